"""Tools around the device."""
