// Breadth-first search of a graph, level by level; the host goes on until no node was reached. Our own, with Rodinia's data:
// a struct for each node, bytes for what is known of it.

typedef struct {
    int first;
    int count;
} Node;

__kernel void bfs_expand(__global const Node *graph, __global const int *edges, __global uchar *frontier,
                         __global uchar *reached, __global const uchar *visited, __global int *cost, int nodes) {
    int v = get_global_id(0);
    if (v < nodes && frontier[v]) {
        frontier[v] = 0;
        int last = graph[v].first + graph[v].count;
        for (int e = graph[v].first; e < last; e++) { // loop: edges
            int to = edges[e];
            if (!visited[to]) { // split
                cost[to] = cost[v] + 1;
                reached[to] = 1;
            }
        }
    }
}

__kernel void bfs_settle(__global uchar *frontier, __global uchar *reached, __global uchar *visited,
                         __global int *more, int nodes) {
    int v = get_global_id(0);
    if (v < nodes && reached[v]) {
        frontier[v] = 1;
        visited[v] = 1;
        *more = 1;
        reached[v] = 0;
    }
}
