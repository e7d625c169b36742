#pragma once
#define SOFTNPU_KERNEL_EXPORT __attribute__((visibility("default")))
