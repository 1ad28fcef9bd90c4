// Built-in functions of OpenCL C for lane-pc machines (docs/riscv.md): included before every source that is compiled to RISC-V.
// Work-items read CSRs; mathematics is our own, in single precision. What is missing here is an undefined symbol at link time.

#pragma OPENCL FP_CONTRACT OFF

#define WB static inline __attribute__((overloadable, always_inline, nodebug))
#define WB_PURE static inline __attribute__((overloadable, always_inline, nodebug, const))
// Longer functions are called: a copy in each place would hide the kernel's own code.
#define WB_CALL static __attribute__((overloadable, noinline, nodebug, const))

// ---- work-items -------------------------------------------------------------------------------------------------------

#define WB_CSR(name, number) \
    WB_PURE uint __wb_##name(void) { \
        uint value; \
        __asm__("csrr %0, " #number : "=r"(value)); \
        return value; \
    }
WB_CSR(local_id_x, 0xcd0)
WB_CSR(local_id_y, 0xcd1)
WB_CSR(local_id_z, 0xcd2)
WB_CSR(group_id_x, 0xcd4)
WB_CSR(group_id_y, 0xcd5)
WB_CSR(group_id_z, 0xcd6)
WB_CSR(local_size_x, 0xcd8)
WB_CSR(local_size_y, 0xcd9)
WB_CSR(local_size_z, 0xcda)
WB_CSR(full_local_size_x, 0xcdc)
WB_CSR(full_local_size_y, 0xcdd)
WB_CSR(full_local_size_z, 0xcde)
WB_CSR(global_size_x, 0xce0)
WB_CSR(global_size_y, 0xce1)
WB_CSR(global_size_z, 0xce2)
WB_CSR(num_groups_x, 0xce4)
WB_CSR(num_groups_y, 0xce5)
WB_CSR(num_groups_z, 0xce6)
WB_CSR(dimensions, 0xce8)

#define WB_DIM(function, name, beyond) \
    WB_PURE size_t function(uint d) { \
        return d == 0 ? __wb_##name##_x() : d == 1 ? __wb_##name##_y() : d == 2 ? __wb_##name##_z() : beyond; \
    }
WB_DIM(get_local_id, local_id, 0)
WB_DIM(get_group_id, group_id, 0)
WB_DIM(get_local_size, local_size, 1)
WB_DIM(get_enqueued_local_size, full_local_size, 1)
WB_DIM(get_global_size, global_size, 1)
WB_DIM(get_num_groups, num_groups, 1)
WB_PURE uint get_work_dim(void) { return __wb_dimensions(); }
WB_PURE size_t get_global_offset(uint d) { return 0; }
WB_PURE size_t get_global_id(uint d) { return get_group_id(d) * get_enqueued_local_size(d) + get_local_id(d); }
WB_PURE size_t get_local_linear_id(void) {
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
WB_PURE size_t get_global_linear_id(void) {
    return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
}

// ---- barriers, fences, atomics ----------------------------------------------------------------------------------------

static inline __attribute__((overloadable, always_inline, nodebug, convergent)) void barrier(cl_mem_fence_flags flags) {
    __asm__ volatile(".insn r 0x0b, 4, 0, x0, x0, x0" ::: "memory");
}
static inline __attribute__((overloadable, always_inline, nodebug, convergent)) void work_group_barrier(cl_mem_fence_flags flags) {
    barrier(flags);
}
WB void mem_fence(cl_mem_fence_flags flags) { __asm__ volatile("fence" ::: "memory"); }
WB void read_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }
WB void write_mem_fence(cl_mem_fence_flags flags) { mem_fence(flags); }

#define WB_ATOMIC(space, type) \
    WB type atomic_add(volatile space type *p, type v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_sub(volatile space type *p, type v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_and(volatile space type *p, type v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_or(volatile space type *p, type v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_xor(volatile space type *p, type v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_min(volatile space type *p, type v) { return __atomic_fetch_min(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_max(volatile space type *p, type v) { return __atomic_fetch_max(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_inc(volatile space type *p) { return atomic_add(p, (type)1); } \
    WB type atomic_dec(volatile space type *p) { return atomic_sub(p, (type)1); } \
    WB type atomic_xchg(volatile space type *p, type v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); } \
    WB type atomic_cmpxchg(volatile space type *p, type c, type v) { \
        __atomic_compare_exchange_n(p, &c, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return c; \
    }
WB_ATOMIC(__global, int)
WB_ATOMIC(__global, uint)
WB_ATOMIC(__local, int)
WB_ATOMIC(__local, uint)
WB float atomic_xchg(volatile __global float *p, float v) {
    return as_float(atomic_xchg((volatile __global int *)p, as_int(v)));
}
WB float atomic_xchg(volatile __local float *p, float v) {
    return as_float(atomic_xchg((volatile __local int *)p, as_int(v)));
}

// ---- mathematics of one lane ------------------------------------------------------------------------------------------

WB_PURE float sqrt(float x) { return __builtin_sqrtf(x); }
WB_PURE float rsqrt(float x) { return 1.0f / sqrt(x); }
WB_PURE float fabs(float x) { return __builtin_fabsf(x); }
WB_PURE float fmin(float x, float y) { return __builtin_fminf(x, y); }
WB_PURE float fmax(float x, float y) { return __builtin_fmaxf(x, y); }
WB_PURE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WB_PURE float mad(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
WB_PURE float copysign(float x, float y) { return __builtin_copysignf(x, y); }
WB_PURE int isnan(float x) { return x != x; }
WB_PURE int isinf(float x) { return fabs(x) == INFINITY; }
WB_PURE int isfinite(float x) { return fabs(x) < INFINITY; }
WB_PURE int signbit(float x) { return as_int(x) < 0; }
WB_PURE float sign(float x) { return isnan(x) ? 0.0f : x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }

// Numbers with 23 bits before the point have none behind it.
#define WB_ROUND(name, mode) \
    WB_PURE float name(float x) { \
        if (!(fabs(x) < 8388608.0f)) return x; \
        int n; \
        __asm__("fcvt.w.s %0, %1, " #mode : "=r"(n) : "f"(x)); \
        return copysign((float)n, x); \
    }
WB_ROUND(floor, rdn)
WB_ROUND(ceil, rup)
WB_ROUND(trunc, rtz)
WB_ROUND(rint, rne)
WB_ROUND(round, rmm)
WB_PURE float fmod(float x, float y) {
    float a = fabs(x), b = fabs(y);
    if (!(b > 0.0f) || !(a < INFINITY)) return NAN;
    while (a >= b) {
        // As large a multiple of b as can be subtracted without rounding.
        float m = as_float((as_int(a) & 0x7f800000) | (as_int(b) & 0x007fffff));
        if (as_int(b) < 0x00800000) m = b;
        if (m > a) m *= 0.5f;
        a -= m < b ? b : m;
    }
    return copysign(a, x);
}

// 2^n for whole n, in two factors so that results below the normal range are rounded once.
WB_PURE float __wb_scale(float x, int n) {
    n = n > 254 ? 254 : n < -252 ? -252 : n;
    int a = n / 2, b = n - a;
    return x * as_float((a + 127) << 23) * as_float((b + 127) << 23);
}
WB_PURE float ldexp(float x, int n) { return __wb_scale(x, n); }

// e^r for |r| <= ln(2)/2: Taylor's polynomial, whose next term is below 2^-27.
WB_PURE float __wb_exp_small(float r) {
    float p = 1.0f / 5040.0f;
    p = fma(p, r, 1.0f / 720.0f);
    p = fma(p, r, 1.0f / 120.0f);
    p = fma(p, r, 1.0f / 24.0f);
    p = fma(p, r, 1.0f / 6.0f);
    p = fma(p, r, 0.5f);
    return fma(r * r, p, r) + 1.0f;
}
WB_CALL float exp(float x) {
    if (isnan(x)) return x;
    if (x > 89.0f) return INFINITY;
    if (x < -104.0f) return 0.0f;
    float k = rint(x * 1.44269504f);
    float r = fma(k, -0x1.62e4p-1f, x);
    r = fma(k, -0x1.7f7d1cp-20f, r);
    return __wb_scale(__wb_exp_small(r), (int)k);
}
WB_CALL float exp2(float x) {
    if (isnan(x)) return x;
    if (x > 129.0f) return INFINITY;
    if (x < -151.0f) return 0.0f;
    float k = rint(x);
    return __wb_scale(__wb_exp_small((x - k) * 0.693147181f), (int)k);
}
WB_PURE float exp10(float x) { return exp2(x * 3.32192809f); }
WB_CALL float expm1(float x) {
    if (fabs(x) > 0.25f) return exp(x) - 1.0f;
    float p = 1.0f / 720.0f;
    p = fma(p, x, 1.0f / 120.0f);
    p = fma(p, x, 1.0f / 24.0f);
    p = fma(p, x, 1.0f / 6.0f);
    p = fma(p, x, 0.5f);
    return fma(x * x, p, x);
}

// Exponent and mantissa in [sqrt(1/2), sqrt(2)) of a positive number.
WB_PURE float __wb_split(float x, int *exponent) {
    int add = 0;
    if (as_int(x) < 0x00800000) {
        x *= 8388608.0f;
        add = -23;
    }
    int bits = as_int(x) - 0x3f3504f3;
    *exponent = (bits >> 23) + add;
    return as_float((bits & 0x007fffff) + 0x3f3504f3);
}
// ln(m) by the series of artanh((m - 1)/(m + 1)).
WB_PURE float __wb_log_small(float m) {
    float f = m - 1.0f, s = f / (2.0f + f), z = s * s;
    float p = 0.2222222f;
    p = fma(p, z, 0.2857142857f);
    p = fma(p, z, 0.4f);
    p = fma(p, z, 0.6666666667f);
    // f - f²/2 + s·(f²/2 + z·p) is 2·artanh(s) with less rounding.
    float h = 0.5f * f * f;
    return f - (h - s * (h + z * p));
}
WB_CALL float log(float x) {
    if (isnan(x) || x < 0.0f) return NAN;
    if (x == 0.0f) return -INFINITY;
    if (x == INFINITY) return x;
    int e;
    float m = __wb_split(x, &e), k = (float)e;
    return fma(k, 0x1.62e4p-1f, fma(k, 0x1.7f7d1cp-20f, __wb_log_small(m)));
}
WB_CALL float log2(float x) {
    if (isnan(x) || x < 0.0f) return NAN;
    if (x == 0.0f) return -INFINITY;
    if (x == INFINITY) return x;
    int e;
    float m = __wb_split(x, &e);
    return fma(__wb_log_small(m), 1.44269504f, (float)e);
}
WB_PURE float log10(float x) { return log(x) * 0.434294482f; }
WB_PURE float log1p(float x) {
    float u = 1.0f + x;
    return u == 1.0f ? x : log(u) * (x / (u - 1.0f));
}
WB_CALL float pow(float x, float y) {
    if (y == 0.0f || x == 1.0f) return 1.0f;
    if (isnan(x) || isnan(y)) return NAN;
    bool whole = rint(y) == y;
    bool odd = whole && fabs(y) < 16777216.0f && ((int)y & 1);
    float a = fabs(x);
    if (a == 0.0f || a == INFINITY || fabs(y) == INFINITY) {
        float r = (a > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
        if (a == 1.0f) r = 1.0f;
        return odd ? copysign(r, x) : r;
    }
    if (x < 0.0f && !whole) return NAN;
    // y·log2(a) with the whole part of the product apart, so that large powers lose few bits.
    int e;
    float m = __wb_split(a, &e);
    float l = __wb_log_small(m) * 1.44269504f;
    float high = (float)e + l, low = ((float)e - high) + l;
    float p = y * high, q = fma(y, high, -p) + y * low;
    if (p > 129.0f) return odd && x < 0.0f ? -INFINITY : INFINITY;
    if (p < -151.0f) return 0.0f;
    float k = rint(p);
    float r = __wb_scale(__wb_exp_small(((p - k) + q) * 0.693147181f), (int)k);
    return odd && x < 0.0f ? -r : r;
}
WB_PURE float powr(float x, float y) { return x < 0.0f ? NAN : pow(x, y); }
WB_PURE float pown(float x, int y) { return pow(x, (float)y); }

// Sine and cosine of |r| <= pi/4.
WB_PURE float __wb_sin_small(float r) {
    float z = r * r, p = 2.7557319e-6f;
    p = fma(p, z, -1.9841270e-4f);
    p = fma(p, z, 8.3333333e-3f);
    p = fma(p, z, -1.6666667e-1f);
    return fma(r * z, p, r);
}
WB_PURE float __wb_cos_small(float r) {
    float z = r * r, p = -2.7557319e-7f;
    p = fma(p, z, 2.4801587e-5f);
    p = fma(p, z, -1.3888889e-3f);
    p = fma(p, z, 4.1666667e-2f);
    return fma(z * z, p, fma(z, -0.5f, 1.0f));
}
// x minus a multiple of pi/2, and which one. Good to |x| of about 2^15.
WB_PURE float __wb_quarter(float x, int *n) {
    float k = rint(x * 0.636619772f);
    *n = (int)k;
    float r = fma(k, -0x1.92p+0f, x);
    r = fma(k, -0x1.fb4p-12f, r);
    return fma(k, -0x1.4442d2p-24f, r);
}
WB_PURE float __wb_wave(float x, int turn) {
    int n;
    if (!(fabs(x) < INFINITY)) return NAN;
    float r = __wb_quarter(x, &n);
    n += turn;
    float v = n & 1 ? __wb_cos_small(r) : __wb_sin_small(r);
    return n & 2 ? -v : v;
}
WB_CALL float sin(float x) { return __wb_wave(x, 0); }
WB_CALL float cos(float x) { return __wb_wave(x, 1); }
WB_PURE float tan(float x) { return sin(x) / cos(x); }
WB_CALL float atan(float x) {
    float a = fabs(x), add = 0.0f;
    if (a > 2.41421356f) {
        add = 1.57079633f;
        a = -1.0f / a;
    } else if (a > 0.414213562f) {
        add = 0.785398163f;
        a = (a - 1.0f) / (a + 1.0f);
    }
    float z = a * a, p = 0.0666f;
    p = fma(p, z, -0.0908f);
    p = fma(p, z, 0.111109f);
    p = fma(p, z, -0.14285705f);
    p = fma(p, z, 0.2f);
    p = fma(p, z, -0.33333333f);
    return copysign(add + fma(a * z, p, a), x);
}
WB_CALL float atan2(float y, float x) {
    if (isnan(x) || isnan(y)) return NAN;
    float a = fabs(y), b = fabs(x), r;
    if (a == b) r = a == 0.0f ? 0.0f : 0.785398163f;
    else r = atan(a / b);
    return copysign(signbit(x) ? 3.14159265f - r : r, y);
}
WB_PURE float asin(float x) { return atan2(x, sqrt((1.0f - x) * (1.0f + x))); }
WB_PURE float acos(float x) { return atan2(sqrt((1.0f - x) * (1.0f + x)), x); }
WB_PURE float sinh(float x) {
    float e = expm1(fabs(x));
    return copysign(0.5f * (e + e / (e + 1.0f)), x);
}
WB_PURE float cosh(float x) {
    float e = exp(fabs(x));
    return 0.5f * (e + 1.0f / e);
}
WB_PURE float tanh(float x) {
    float a = fabs(x);
    if (a > 10.0f) return copysign(1.0f, x);
    float e = expm1(2.0f * a);
    return copysign(isnan(x) ? x : e / (e + 2.0f), x);
}
WB_PURE float hypot(float x, float y) { return sqrt(fma(x, x, y * y)); }
WB_PURE float cbrt(float x) { return copysign(pow(fabs(x), 0.333333333f), x); }
WB_PURE float native_exp(float x) { return exp(x); }
WB_PURE float native_exp2(float x) { return exp2(x); }
WB_PURE float native_log(float x) { return log(x); }
WB_PURE float native_log2(float x) { return log2(x); }
WB_PURE float native_sqrt(float x) { return sqrt(x); }
WB_PURE float native_rsqrt(float x) { return rsqrt(x); }
WB_PURE float native_sin(float x) { return sin(x); }
WB_PURE float native_cos(float x) { return cos(x); }
WB_PURE float native_recip(float x) { return 1.0f / x; }
WB_PURE float native_divide(float x, float y) { return x / y; }
WB_PURE float native_powr(float x, float y) { return powr(x, y); }
WB_PURE float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
WB_PURE float mix(float x, float y, float a) { return x + (y - x) * a; }
WB_PURE float degrees(float x) { return x * 57.2957795f; }
WB_PURE float radians(float x) { return x * 0.0174532925f; }

// ---- integers ---------------------------------------------------------------------------------------------------------

#define WB_INTEGER(type, utype) \
    WB_PURE type min(type x, type y) { return y < x ? y : x; } \
    WB_PURE type max(type x, type y) { return x < y ? y : x; } \
    WB_PURE type clamp(type x, type low, type high) { return min(max(x, low), high); } \
    WB_PURE utype abs_diff(type x, type y) { return x > y ? (utype)x - (utype)y : (utype)y - (utype)x; }
WB_INTEGER(char, uchar)
WB_INTEGER(uchar, uchar)
WB_INTEGER(short, ushort)
WB_INTEGER(ushort, ushort)
WB_INTEGER(int, uint)
WB_INTEGER(uint, uint)
WB_INTEGER(long, ulong)
WB_INTEGER(ulong, ulong)
WB_PURE float min(float x, float y) { return y < x ? y : x; }
WB_PURE float max(float x, float y) { return x < y ? y : x; }
WB_PURE float clamp(float x, float low, float high) { return fmin(fmax(x, low), high); }
WB_PURE float smoothstep(float a, float b, float x) {
    float t = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}
WB_PURE uint abs(int x) { return x < 0 ? 0u - (uint)x : (uint)x; }
WB_PURE uint abs(uint x) { return x; }
WB_PURE ulong abs(long x) { return x < 0 ? 0ul - (ulong)x : (ulong)x; }
WB_PURE int mul24(int x, int y) { return x * y; }
WB_PURE uint mul24(uint x, uint y) { return x * y; }
WB_PURE int mad24(int x, int y, int z) { return x * y + z; }
WB_PURE uint mad24(uint x, uint y, uint z) { return x * y + z; }
WB_PURE int mul_hi(int x, int y) { return (int)((long)x * y >> 32); }
WB_PURE uint mul_hi(uint x, uint y) { return (uint)((ulong)x * y >> 32); }
WB_PURE int mad_hi(int x, int y, int z) { return mul_hi(x, y) + z; }
WB_PURE uint mad_hi(uint x, uint y, uint z) { return mul_hi(x, y) + z; }
WB_PURE uint rotate(uint x, uint n) { return x << (n & 31) | x >> (-n & 31); }
WB_PURE int rotate(int x, int n) { return (int)rotate((uint)x, (uint)n); }
WB_PURE uint clz(uint x) { return x ? __builtin_clz(x) : 32; }
WB_PURE int clz(int x) { return (int)clz((uint)x); }
WB_PURE uint ctz(uint x) { return x ? __builtin_ctz(x) : 32; }
WB_PURE uint popcount(uint x) { return __builtin_popcount(x); }
WB_PURE int popcount(int x) { return __builtin_popcount(x); }
WB_PURE int select(int a, int b, int c) { return c ? b : a; }
WB_PURE uint select(uint a, uint b, uint c) { return c ? b : a; }
WB_PURE float select(float a, float b, int c) { return c ? b : a; }
WB_PURE int any(int x) { return x < 0; }
WB_PURE int all(int x) { return x < 0; }

// ---- conversions ------------------------------------------------------------------------------------------------------

#define WB_CONVERT(to, from) \
    WB_PURE to convert_##to(from x) { return (to)x; }
#define WB_CONVERT_FROM(to) \
    WB_CONVERT(to, char) WB_CONVERT(to, uchar) WB_CONVERT(to, short) WB_CONVERT(to, ushort) WB_CONVERT(to, int) \
    WB_CONVERT(to, uint) WB_CONVERT(to, long) WB_CONVERT(to, ulong) WB_CONVERT(to, float)
WB_CONVERT_FROM(char)
WB_CONVERT_FROM(uchar)
WB_CONVERT_FROM(short)
WB_CONVERT_FROM(ushort)
WB_CONVERT_FROM(int)
WB_CONVERT_FROM(uint)
WB_CONVERT_FROM(long)
WB_CONVERT_FROM(ulong)
WB_CONVERT_FROM(float)
WB_PURE int convert_int_rte(float x) { return (int)rint(x); }
WB_PURE int convert_int_rtz(float x) { return (int)x; }
WB_PURE int convert_int_rtn(float x) { return (int)floor(x); }
WB_PURE int convert_int_rtp(float x) { return (int)ceil(x); }

// ---- vectors ----------------------------------------------------------------------------------------------------------

#define WB_EACH1(n, name) \
    WB_PURE float##n name(float##n x) { \
        float##n r; \
        for (int i = 0; i < n; i++) r[i] = name(x[i]); \
        return r; \
    }
#define WB_EACH2(n, type, name) \
    WB_PURE type##n name(type##n x, type##n y) { \
        type##n r; \
        for (int i = 0; i < n; i++) r[i] = name(x[i], y[i]); \
        return r; \
    }
#define WB_VECTOR(n) \
    WB_EACH1(n, sqrt) WB_EACH1(n, fabs) WB_EACH1(n, floor) WB_EACH1(n, ceil) WB_EACH1(n, exp) WB_EACH1(n, log) \
    WB_EACH1(n, sin) WB_EACH1(n, cos) WB_EACH2(n, float, fmin) WB_EACH2(n, float, fmax) WB_EACH2(n, float, min) \
    WB_EACH2(n, float, max) WB_EACH2(n, float, pow) WB_EACH2(n, int, min) WB_EACH2(n, int, max) WB_EACH2(n, uint, min) \
    WB_EACH2(n, uint, max) \
    WB_PURE float##n fma(float##n x, float##n y, float##n z) { return __builtin_elementwise_fma(x, y, z); } \
    WB_PURE float##n mad(float##n x, float##n y, float##n z) { return __builtin_elementwise_fma(x, y, z); } \
    WB_PURE int##n convert_int##n(float##n x) { return __builtin_convertvector(x, int##n); } \
    WB_PURE float##n convert_float##n(int##n x) { return __builtin_convertvector(x, float##n); } \
    WB_PURE float##n convert_float##n(uint##n x) { return __builtin_convertvector(x, float##n); }
WB_VECTOR(2)
WB_VECTOR(3)
WB_VECTOR(4)
WB_VECTOR(8)
WB_VECTOR(16)
#define WB_DOT(n) \
    WB_PURE float dot(float##n x, float##n y) { \
        float r = x[0] * y[0]; \
        for (int i = 1; i < n; i++) r += x[i] * y[i]; \
        return r; \
    } \
    WB_PURE float length(float##n x) { return sqrt(dot(x, x)); } \
    WB_PURE float distance(float##n x, float##n y) { return length(x - y); } \
    WB_PURE float##n normalize(float##n x) { return x / length(x); }
WB_PURE float dot(float x, float y) { return x * y; }
WB_PURE float length(float x) { return fabs(x); }
WB_DOT(2)
WB_DOT(3)
WB_DOT(4)
WB_PURE float4 cross(float4 x, float4 y) {
    return (float4)(x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x, 0.0f);
}
WB_PURE float3 cross(float3 x, float3 y) {
    return (float3)(x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x);
}
#define WB_LOADS(space, type, n) \
    WB type##n vload##n(size_t i, const space type *p) { \
        type##n r; \
        for (int k = 0; k < n; k++) r[k] = p[i * n + k]; \
        return r; \
    }
#define WB_STORES(space, type, n) \
    WB void vstore##n(type##n v, size_t i, space type *p) { \
        for (int k = 0; k < n; k++) p[i * n + k] = v[k]; \
    }
#define WB_MEMORY(type, n) \
    WB_LOADS(__global, type, n) WB_LOADS(__local, type, n) WB_LOADS(__constant, type, n) WB_LOADS(__private, type, n) \
    WB_STORES(__global, type, n) WB_STORES(__local, type, n) WB_STORES(__private, type, n)
#define WB_MEMORY_OF(type) WB_MEMORY(type, 2) WB_MEMORY(type, 3) WB_MEMORY(type, 4) WB_MEMORY(type, 8) WB_MEMORY(type, 16)
WB_MEMORY_OF(float)
WB_MEMORY_OF(int)
WB_MEMORY_OF(uint)
WB_MEMORY_OF(uchar)

// Sources are compiled with the default of OpenCL from here on.
#pragma OPENCL FP_CONTRACT ON
