#pragma once
// The path by which extensions include this generated header, while the plug-in itself is compiled.

#include <CustomFunctions.h>
