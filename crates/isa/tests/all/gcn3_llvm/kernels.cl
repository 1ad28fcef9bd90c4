// Small kernels that reach many instructions: LDS, atomics, f64, division, scratch, calls, images of control flow.
kernel void fir(global const float *in, global float *out, constant float *taps, int n) {
  int i = get_global_id(0);
  float s = 0.0f;
  for (int k = 0; k < n; ++k) s += in[i + k] * taps[k];
  out[i] = s;
}
kernel void reduce(global const uint *in, global uint *out, local uint *t) {
  int l = get_local_id(0);
  t[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) atomic_add(out, t[0]);
}
kernel void doubles(global const double *a, global double *b, global float *c, global int *d) {
  int i = get_global_id(0);
  double x = a[i];
#ifndef NO_TABLES
  x += sin(x) + cos(3.0 * x);
  c[i] += sin(c[i]);
#endif
  b[i] = sqrt(x) / (x + 1.0) + x * exp(-x) - log(fabs(x) + 2.0) + pow(x, 3.5) + ldexp(x, d[i]);
  c[i] = (float)x / (c[i] + 1.0f) + native_sin(c[i]) + rsqrt(c[i]) + exp2(c[i]) + log(c[i]) + atan2(c[i], 2.0f);
  d[i] = (int)x / d[i] + d[i] % 7 + (int)floor(x);
}
kernel void bytes(global const uchar *a, global ushort *b, global char4 *c, global long *e, global ulong *f) {
  int i = get_global_id(0);
  b[i] = a[i] * 3 + a[i + 1];
  c[i] = c[i] + (char4)(1, 2, 3, 4) * convert_char4(c[i + 1] >> (char4)(1));
  e[i] = e[i] * e[i + 1] + (e[i] >> 3) - (e[i] < 0 ? 5 : e[i + 2]);
  f[i] = f[i] / (f[i + 1] | 1) + popcount(f[i]) + clz(f[i]) + mul_hi(f[i], f[i + 1]);
}
kernel void scratch(global int *a, int k) {
  int t[40];
  for (int i = 0; i < 40; ++i) t[i] = a[i];
  for (int i = 0; i < k; ++i) t[(i * 7) % 40] += t[(i * 3 + k) % 40];
  a[get_global_id(0)] = t[k % 40];
}
kernel void nested(global int *a, global int *b, int n) {
  int i = get_global_id(0);
  int v = a[i];
  while (v > 1) {
    if (v & 1) {
      v = 3 * v + 1;
      if (v > n) break;
    } else {
      v >>= 1;
    }
    if (v == 17) atomic_max(b, v); else if (v == 19) atomic_inc(b + 1); else atomic_cmpxchg(b + 2, v, i);
  }
  b[i] = v;
}
__attribute__((noinline)) int helper(int x, global int *p) { return x * p[x] + 1; }
kernel void calls(global int *a) { int i = get_global_id(0); a[i] = helper(i, a) + helper(i + 1, a); }
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void halves(global const half *a, global half *b, global short *c) {
  int i = get_global_id(0);
  b[i] = a[i] * a[i + 1] + (half)0.5f - sqrt(a[i]) / a[i + 2];
  c[i] = (short)(c[i] * c[i + 1]) >> (c[i + 2] & 7);
  c[i + 1] = max(c[i], (short)100) - min(c[i + 3], (short)-7);
}
kernel void vectors(global float4 *a, global float3 *b, local float4 *l, global float16 *h) {
  int i = get_global_id(0), j = get_local_id(0);
  l[j] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = l[j ^ 1] * 2.0f + fma(a[i], l[j ^ 3], (float4)(1.5f)) - clamp(a[i], 0.0f, 1.0f);
  vstore3(b[i].zyx, i, (global float *)b);
  h[i] = h[i] + h[i + 1];
}
