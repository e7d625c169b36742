"""CANN's C ABI as tables: functions, constants, structs; and what is made of them."""
