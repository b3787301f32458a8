/* NVIDIA's types, as far as the stub uses them, from the documentation of the driver API. */
#ifdef CUDA_HEADER
#include CUDA_HEADER
/* The stub defines the exported names, which the header only gives by macros. */
#undef cuEventElapsedTime
#else
#include <stddef.h>
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUpointer_attribute;
typedef int CUjit_option;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
#endif
