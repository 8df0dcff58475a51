#pragma once
// The one place that knows whether a function is compiled for the device as well.
#ifdef __CUDACC__
#define CUZK_HD __host__ __device__
#else
#define CUZK_HD
#endif
