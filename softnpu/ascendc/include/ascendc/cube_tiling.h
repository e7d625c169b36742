#pragma once
// How a product is cut: what MatmulApiTiling of the host fills in and the objects of the cube read. Facts: its members'
// use in Ascend/DrivingSDK and sgl-kernel-npu. See PROVENANCE.md.

#include <cstdint>

namespace AscendC::tiling {

// Sizes in elements. The objects read M to baseK; how the others are chosen makes no difference to results.
struct TCubeTiling {
  int32_t usedCoreNum = 1;
  // Of the matrices as they are stored: A is M by Ka, B is Kb by N, C is M by N.
  int32_t M = 0;
  int32_t N = 0;
  int32_t Ka = 0;
  int32_t Kb = 0;
  // Of one product, until SetSingleShape() says otherwise.
  int32_t singleCoreM = 0;
  int32_t singleCoreN = 0;
  int32_t singleCoreK = 0;
  // Of what Iterate() computes at once.
  int32_t baseM = 0;
  int32_t baseN = 0;
  int32_t baseK = 0;
  int32_t depthA1 = 1;
  int32_t depthB1 = 1;
  int32_t stepM = 1;
  int32_t stepN = 1;
  int32_t stepKa = 1;
  int32_t stepKb = 1;
  int32_t dbL0A = 1;
  int32_t dbL0B = 1;
  int32_t dbL0C = 1;
  int32_t shareMode = 0;
  int32_t shareL1Size = 0;
  int32_t shareL0CSize = 0;
  int32_t shareUbSize = 0;

  void set_usedCoreNum(int32_t value) { usedCoreNum = value; }
  void set_M(int32_t value) { M = value; }
  void set_N(int32_t value) { N = value; }
  void set_Ka(int32_t value) { Ka = value; }
  void set_Kb(int32_t value) { Kb = value; }
  void set_singleCoreM(int32_t value) { singleCoreM = value; }
  void set_singleCoreN(int32_t value) { singleCoreN = value; }
  void set_singleCoreK(int32_t value) { singleCoreK = value; }
  void set_baseM(int32_t value) { baseM = value; }
  void set_baseN(int32_t value) { baseN = value; }
  void set_baseK(int32_t value) { baseK = value; }
  void set_depthA1(int32_t value) { depthA1 = value; }
  void set_depthB1(int32_t value) { depthB1 = value; }
  void set_stepM(int32_t value) { stepM = value; }
  void set_stepN(int32_t value) { stepN = value; }
  void set_stepKa(int32_t value) { stepKa = value; }
  void set_stepKb(int32_t value) { stepKb = value; }
  void set_dbL0A(int32_t value) { dbL0A = value; }
  void set_dbL0B(int32_t value) { dbL0B = value; }
  void set_dbL0C(int32_t value) { dbL0C = value; }
  void set_shareMode(int32_t value) { shareMode = value; }
  void set_shareL1Size(int32_t value) { shareL1Size = value; }
  void set_shareL0CSize(int32_t value) { shareL0CSize = value; }
  void set_shareUbSize(int32_t value) { shareUbSize = value; }
  int32_t get_depthA1() const { return depthA1; }
  int32_t get_depthB1() const { return depthB1; }
  int32_t get_baseM() const { return baseM; }
  int32_t get_baseN() const { return baseN; }
  int32_t get_baseK() const { return baseK; }
};

}  // namespace AscendC::tiling

using AscendC::tiling::TCubeTiling;
