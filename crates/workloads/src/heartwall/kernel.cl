// Follows points of a heart's wall through frames of ultrasound: a group per point looks around where the point was for the
// place that is most like its template. Our own.
#pragma OPENCL FP_CONTRACT OFF
#define T 13         // side of a template
#define R 6          // how far a point may move
#define W (T + 2 * R) // side of the window that is searched
#define P (2 * R + 1) // side of the area of places
#define ASSUME(x) __builtin_assume(x) // the host sees to it

__kernel void heartwall_track(__global const float *frame, __global float *templates, __global int2 *places, int width,
                              int height, int number) {
    __local float window[W * W], part[T * T], columns[W * P], squares[W * P], match[P * P];
    __local float best[256];
    __local int where[256];
    __local float mean, spread;
    int t = get_local_id(0), size = get_local_size(0), point = get_group_id(0);
    int2 place = places[point];
    ASSUME(size >= 2);

    // The first frame makes the templates.
    if (number == 0) {
        for (int i = t; i < T * T; i += size) {
            int x = place.x + i % T - T / 2, y = place.y + i / T - T / 2;
            templates[point * T * T + i] = frame[y * width + x];
        }
        return;
    }

    // The window around the last place, zero outside of the frame.
    for (int i = t; i < W * W; i += size) {
        int x = place.x + i % W - W / 2, y = place.y + i / W - W / 2;
        if (x >= 0 && x < width && y >= 0 && y < height) // split
            window[i] = frame[y * width + x];
        else
            window[i] = 0.0f;
    }
    for (int i = t; i < T * T; i += size)
        part[i] = templates[point * T * T + i];
    barrier(CLK_LOCAL_MEM_FENCE);

    // Mean and spread of the template.
    if (t == 0) { // split
        float sum = 0.0f, square = 0.0f;
        for (int i = 0; i < T * T; i++) {
            sum += part[i];
            square += part[i] * part[i];
        }
        mean = sum / (float)(T * T);
        spread = sqrt(square - sum * sum / (float)(T * T));
    }
    // Sums over T rows of every column of the window, for each row of places.
    for (int i = t; i < W * P; i += size) {
        int x = i % W, y = i / W;
        float sum = 0.0f, square = 0.0f;
        for (int k = 0; k < T; k++) {
            float v = window[(y + k) * W + x];
            sum += v;
            square += v * v;
        }
        columns[i] = sum;
        squares[i] = square;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Normalised correlation at every place.
    for (int i = t; i < P * P; i += size) {
        int x = i % P, y = i / P;
        float product = 0.0f, sum = 0.0f, square = 0.0f;
#pragma unroll 1
        for (int ky = 0; ky < T; ky++)
            for (int kx = 0; kx < T; kx++)
                product += window[(y + ky) * W + x + kx] * part[ky * T + kx];
        for (int k = 0; k < T; k++) {
            sum += columns[y * W + x + k];
            square += squares[y * W + x + k];
        }
        float deviation = square - sum * sum / (float)(T * T);
        if (deviation < 0.0f)
            deviation = 0.0f;
        float scale = sqrt(deviation) * spread;
        if (scale > 0.0f) // split
            match[i] = (product - sum * mean) / scale;
        else
            match[i] = 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // The best place: each work-item's own, then halves.
    float own = -2.0f;
    int index = 0;
    for (int i = t; i < P * P; i += size) {
        if (match[i] > own) {
            own = match[i];
            index = i;
        }
    }
    best[t] = own;
    where[t] = index;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (t < half_size && best[t + half_size] > best[t]) { // split
            best[t] = best[t + half_size];
            where[t] = where[t + half_size];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    place.x += where[0] % P - R;
    place.y += where[0] / P - R;
    if (t == 0)
        places[point] = place;

    // The template slowly becomes what is seen now.
    for (int i = t; i < T * T; i += size) {
        int x = place.x + i % T - T / 2, y = place.y + i / T - T / 2;
        if (x >= 0 && x < width && y >= 0 && y < height)
            templates[point * T * T + i] = 0.95f * part[i] + 0.05f * frame[y * width + x];
    }
}
