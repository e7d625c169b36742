// Loads and stores of masks as bytes in a few instructions; PyTorch's convert each lane by itself. The text follows the
// prefix of generated kernels, so that machines without these instructions keep PyTorch's.

#if defined(CPU_CAPABILITY_AVX512) || defined(CPU_CAPABILITY_AVX2)
namespace at::vec {
inline namespace CPU_CAPABILITY {

// The mask that is set where one of `count` bytes is; not set in the lanes behind them.
inline VecMask<float, 1> mask_of_bytes(const bool* bytes, int count) {
  __at_align__ bool read[16] = {};
  std::memcpy(read, bytes, count);
  const auto all = _mm_load_si128(reinterpret_cast<const __m128i*>(read));
#if defined(CPU_CAPABILITY_AVX512)
  const auto lanes = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_cvtepu8_epi32(all));
  return Vectorized<float>(_mm512_castsi512_ps(lanes));
#else
  const auto lanes = _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_cvtepu8_epi32(all));
  return Vectorized<float>(_mm256_castsi256_ps(lanes));
#endif
}

template <>
template <>
inline VecMask<float, 1> VecMask<float, 1>::from(bool* bytes, int count) {
  return mask_of_bytes(bytes, count);
}

template <>
template <>
inline VecMask<float, 1> VecMask<float, 1>::from(const bool* bytes, int count) {
  return mask_of_bytes(bytes, count);
}

template <>
inline void VecMask<float, 1>::store(bool* bytes, int count) {
  const __m128i ones = _mm_set1_epi8(1);
#if defined(CPU_CAPABILITY_AVX512)
  const __m512i lanes = _mm512_castps_si512(mask_[0]);
  const __m128i written = _mm_maskz_mov_epi8(_mm512_test_epi32_mask(lanes, lanes), ones);
#else
  const __m256i lanes = _mm256_castps_si256(mask_[0]);
  const __m128i halves = _mm_packs_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
  const __m128i written = _mm_and_si128(_mm_packs_epi16(halves, halves), ones);
#endif
  std::memcpy(bytes, &written, count);
}

}  // namespace CPU_CAPABILITY
}  // namespace at::vec
#endif
