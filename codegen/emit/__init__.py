"""Writers of generated files. Each returns {file name: text}; the same model gives the same text."""
