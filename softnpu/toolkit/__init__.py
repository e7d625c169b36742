"""The folder of softnpu that is laid out as an installed CANN toolkit."""
