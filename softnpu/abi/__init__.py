"""CANN's C ABI as tables of functions, constants and structs, and the files written from them."""
