// An exact scan as a C++ programmer would write it, to compare ours with: the
// dot product of one unit vector with n others that lie in one block, and the k
// nearest in a heap. The compiler may reorder sums (-ffast-math), without which
// it does not use the wide registers at all.
//
//   g++ -O3 -march=native -ffast-math -o scan scan.cc && ./scan N DIM K RUNS
//
// Prints the nanoseconds of the quickest run.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <random>
#include <utility>
#include <vector>

static void unit(float *v, int dim) {
  float s = 0;
  for (int i = 0; i < dim; i++) s += v[i] * v[i];
  s = 1 / std::sqrt(s);
  for (int i = 0; i < dim; i++) v[i] *= s;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const int n = std::atoi(argv[1]), dim = std::atoi(argv[2]), k = std::atoi(argv[3]), runs = std::atoi(argv[4]);
  std::mt19937 rng(1);
  std::normal_distribution<float> normal;
  std::vector<float> rows((size_t)n * dim), q(dim);
  for (auto &x : rows) x = normal(rng);
  for (auto &x : q) x = normal(rng);
  for (int i = 0; i < n; i++) unit(&rows[(size_t)i * dim], dim);
  unit(q.data(), dim);

  double best = 1e300;
  long sum = 0;
  for (int run = 0; run < runs; run++) {
    auto start = std::chrono::steady_clock::now();
    std::priority_queue<std::pair<float, int>> heap;
    for (int i = 0; i < n; i++) {
      const float *r = &rows[(size_t)i * dim];
      float dot = 0;
      for (int j = 0; j < dim; j++) dot += q[j] * r[j];
      const float d = 1 - dot;
      if ((int)heap.size() < k || d < heap.top().first) {
        heap.emplace(d, i);
        if ((int)heap.size() > k) heap.pop();
      }
    }
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
    sum += heap.top().second;
  }
  std::fprintf(stderr, "%ld\n", sum); // or the compiler drops the work
  std::printf("%.0f\n", best);
}
