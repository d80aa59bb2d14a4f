// The peer of index.py: builds and searches an index with the C++ hnswlib, on
// the file that "index make" wrote, and prints what "index run" prints.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "hnswlib/hnswlib.h"

static double wall() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    std::ifstream in(argv[1], std::ios::binary);
    uint32_t head[3];
    in.read((char *)head, sizeof head);
    const size_t n = head[0], dim = head[1], asked = head[2], threads = atoi(argv[2]);
    std::vector<float> vectors(n * dim), queries(asked * dim);
    std::vector<uint32_t> truth(asked * 10);
    in.read((char *)vectors.data(), vectors.size() * 4);
    in.read((char *)queries.data(), queries.size() * 4);
    in.read((char *)truth.data(), truth.size() * 4);
    if (!in) return 3;

    hnswlib::InnerProductSpace space(dim);
    double start = wall();
    clock_t cpu = clock();
    hnswlib::HierarchicalNSW<float> index(&space, n, 16, 100);
    index.addPoint(vectors.data(), 1);
    std::atomic<size_t> next{1};
    auto work = [&] {
        for (size_t i; (i = next++) < n;) index.addPoint(vectors.data() + i * dim, i + 1);
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < threads; t++) others.emplace_back(work);
    work();
    for (auto &t : others) t.join();
    printf("{\"build\": %f, \"build_cpu\": %f", wall() - start, double(clock() - cpu) / CLOCKS_PER_SEC);

    std::string search, recall;
    for (size_t ef : {10, 50, 200}) {
        index.setEf(ef);
        double best = 1e9;
        size_t found = 0;
        for (int run = 0; run < 3; run++) {
            found = 0;
            start = wall();
            for (size_t i = 0; i < asked; i++) {
                auto hits = index.searchKnn(queries.data() + i * dim, 10);
                std::unordered_set<uint32_t> right(truth.begin() + 10 * i, truth.begin() + 10 * i + 10);
                for (; !hits.empty(); hits.pop()) found += right.count(hits.top().second - 1);
            }
            best = std::min(best, wall() - start);
        }
        const std::string comma = search.empty() ? "" : ", ";
        search += comma + "\"" + std::to_string(ef) + "\": " + std::to_string(best * 1000 / asked);
        recall += comma + "\"" + std::to_string(ef) + "\": " + std::to_string(double(found) / (10 * asked));
    }
    printf(", \"search\": {%s}, \"recall\": {%s}}\n", search.c_str(), recall.c_str());
}
