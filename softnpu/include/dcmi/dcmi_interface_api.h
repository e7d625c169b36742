#pragma once
// Devices as monitors see them (libdcmi). All functions return 0, DCMI_NOT_SUPPORTED, or DCMI_WRONG_ARGUMENT. A card is
// an NPU, a device one of its chips. Power, temperature and clocks are modelled: a software NPU has no sensors.

#include <stdint.h>

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  DCMI_NOT_SUPPORTED = -8255,
  DCMI_WRONG_ARGUMENT = -8001,  // this project's own value: callers compare with 0
};

// What dcmi_get_device_utilization_rate measures, in percent.
enum {
  DCMI_UTILIZATION_AICORE = 2,
  DCMI_UTILIZATION_AICPU = 3,
  DCMI_UTILIZATION_HBM = 6,
  DCMI_UTILIZATION_HBM_BANDWIDTH = 10,
  DCMI_UTILIZATION_NPU = 13,
};

// What dcmi_get_device_frequency tells, in MHz.
enum {
  DCMI_FREQUENCY_HBM = 6,
  DCMI_FREQUENCY_AICORE = 7,
  DCMI_FREQUENCY_AICORE_MAX = 9,
};

typedef struct dcmiChipInfo {
  unsigned char chip_type[32];
  unsigned char chip_name[32];
  unsigned char chip_ver[32];
  unsigned int aicore_cnt;
} dcmiChipInfo;

typedef struct dcmiChipInfoV2 {
  unsigned char chip_type[32];
  unsigned char chip_name[32];
  unsigned char chip_ver[32];
  unsigned int aicore_cnt;
  unsigned char npu_name[32];
} dcmiChipInfoV2;

typedef struct dcmiPcieInfoV2 {
  unsigned int venderid;
  unsigned int subvenderid;
  unsigned int deviceid;
  unsigned int subdeviceid;
  int domain;
  unsigned int bdf_busid;
  unsigned int bdf_deviceid;
  unsigned int bdf_funcid;
  unsigned char reserve[32];
} dcmiPcieInfoV2;

typedef struct dcmiHbmInfo {
  unsigned long long memory_size;  // MB
  unsigned int freq;
  unsigned long long memory_usage;  // MB
  int temp;
  unsigned int bandwith_util_rate;
} dcmiHbmInfo;

typedef struct dcmiProcessMemory {
  int proc_id;
  unsigned long proc_mem_usage;  // bytes
} dcmiProcessMemory;

ACL_FUNC_VISIBILITY int dcmi_init(void);
// The numbers of the cards, at most `length`.
ACL_FUNC_VISIBILITY int dcmi_get_card_num_list(int* count, int* list, int length);
ACL_FUNC_VISIBILITY int dcmi_get_card_list(int* count, int* list, int length);
ACL_FUNC_VISIBILITY int dcmi_get_device_num_in_card(int card, int* count);
ACL_FUNC_VISIBILITY int dcmi_get_device_logic_id(int* logic, int card, int device);
ACL_FUNC_VISIBILITY int dcmi_get_device_phyid_from_logicid(unsigned int logic, unsigned int* physical);
// The version of the driver that is emulated; `length` bytes with the end.
ACL_FUNC_VISIBILITY int dcmi_get_driver_version(char* version, unsigned int length);
ACL_FUNC_VISIBILITY int dcmi_get_device_chip_info(int card, int device, dcmiChipInfo* info);
ACL_FUNC_VISIBILITY int dcmi_get_device_chip_info_v2(int card, int device, dcmiChipInfoV2* info);
ACL_FUNC_VISIBILITY int dcmi_get_device_pcie_info_v2(int card, int device, dcmiPcieInfoV2* info);
ACL_FUNC_VISIBILITY int dcmi_get_device_hbm_info(int card, int device, dcmiHbmInfo* info);
// In degrees Celsius.
ACL_FUNC_VISIBILITY int dcmi_get_device_temperature(int card, int device, int* temperature);
// In tenths of a watt.
ACL_FUNC_VISIBILITY int dcmi_get_device_power_info(int card, int device, int* power);
// 0: no error.
ACL_FUNC_VISIBILITY int dcmi_get_device_health(int card, int device, unsigned int* health);
ACL_FUNC_VISIBILITY int dcmi_get_device_utilization_rate(int card, int device, int type, unsigned int* rate);
ACL_FUNC_VISIBILITY int dcmi_get_device_frequency(int card, int device, int type, unsigned int* frequency);
// This user's processes on the device: `processes` has room for 64.
ACL_FUNC_VISIBILITY int dcmi_get_device_resource_info(int card, int device, dcmiProcessMemory* processes, int* count);

#ifdef __cplusplus
}
#endif
