// oneDNN: the backward pass of RMSNorm (layer_normalization with rms_norm) keeps a term of LayerNorm's
// gradient. One row, three answers to compare with. Needs oneDNN 3.x and nothing else:
//
//   g++ -std=c++17 -O2 onednn-rmsnorm-gradient.cpp -ldnnl -o onednn-rmsnorm-gradient
//
// Ends with status 0 if DIFF_SRC is the gradient of the forward pass, with 1 if it is not.

#include <cmath>
#include <cstdio>
#include <random>
#include <unordered_map>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"

using namespace dnnl;

namespace {

constexpr int N = 64;
constexpr float EPSILON = 1e-6f;
const auto FLAGS = normalization_flags::rms_norm | normalization_flags::use_scale;

using Row = std::vector<float>;

struct Norm {
  engine cpu{engine::kind::cpu, 0};
  stream queue{cpu};
  memory::desc rows{{1, N}, memory::data_type::f32, memory::format_tag::ab};
  memory::desc statistic{{1}, memory::data_type::f32, memory::format_tag::a};
  memory::desc width{{N}, memory::data_type::f32, memory::format_tag::a};
  layer_normalization_forward::primitive_desc forward{
      cpu, prop_kind::forward_training, rows, rows, EPSILON, FLAGS};

  memory of(const memory::desc &desc, Row &values) { return {desc, cpu, values.data()}; }

  // y = rmsnorm(x) * scale; keeps the mean square in variance.
  void apply(Row &x, Row &scale, Row &y, Row &variance) {
    layer_normalization_forward(forward).execute(queue,
        {{DNNL_ARG_SRC, of(rows, x)}, {DNNL_ARG_DST, of(rows, y)}, {DNNL_ARG_SCALE, of(width, scale)},
            {DNNL_ARG_VARIANCE, of(statistic, variance)}});
    queue.wait();
  }

  void backward(Row &x, Row &scale, Row &dy, Row &dx, Row &dscale) {
    Row y(N), variance(1);
    apply(x, scale, y, variance);
    layer_normalization_backward::primitive_desc description(
        cpu, prop_kind::backward, rows, rows, rows, EPSILON, FLAGS, forward);
    std::printf("implementation: %s\n", description.impl_info_str());
    layer_normalization_backward(description).execute(queue,
        {{DNNL_ARG_SRC, of(rows, x)}, {DNNL_ARG_DIFF_DST, of(rows, dy)}, {DNNL_ARG_SCALE, of(width, scale)},
            {DNNL_ARG_VARIANCE, of(statistic, variance)}, {DNNL_ARG_DIFF_SRC, of(rows, dx)},
            {DNNL_ARG_DIFF_SCALE, of(width, dscale)}});
    queue.wait();
  }
};

// The derivative in double; with LayerNorm's term if asked.
std::vector<double> formula(const Row &x, const Row &scale, const Row &dy, bool withMeanOfH) {
  double squares = 0, products = 0, sum = 0;
  for (int i = 0; i < N; i++) {
    double h = double(dy[i]) * scale[i];
    squares += double(x[i]) * x[i];
    products += h * x[i];
    sum += h;
  }
  double r = 1 / std::sqrt(squares / N + EPSILON);
  std::vector<double> dx(N);
  for (int i = 0; i < N; i++) {
    double h = double(dy[i]) * scale[i] - (withMeanOfH ? sum / N : 0);
    dx[i] = r * (h - x[i] * r * r * products / N);
  }
  return dx;
}

// How dot(dy, y) answers when an element of x moves: differences of the fourth order.
std::vector<double> differences(Norm &norm, const Row &x, Row &scale, const Row &dy) {
  const float step = 1.0f / 32;
  const double moves[] = {-2, -1, 1, 2}, weights[] = {1 / 12.0, -8 / 12.0, 8 / 12.0, -1 / 12.0};
  std::vector<double> dx(N);
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 4; k++) {
      Row moved = x, y(N), variance(1);
      moved[i] += float(moves[k]) * step;
      norm.apply(moved, scale, y, variance);
      for (int j = 0; j < N; j++) {
        dx[i] += weights[k] / step * dy[j] * y[j];
      }
    }
  }
  return dx;
}

// The gradient of the scale, of one row.
std::vector<double> scaleGradient(const Row &x, const Row &dy) {
  double squares = 0;
  for (float v : x) {
    squares += double(v) * v;
  }
  std::vector<double> dscale(N);
  for (int i = 0; i < N; i++) {
    dscale[i] = dy[i] * x[i] / std::sqrt(squares / N + EPSILON);
  }
  return dscale;
}

// The largest difference, as a share of the largest element of b.
double apart(const Row &a, const std::vector<double> &b) {
  double most = 0, largest = 0;
  for (int i = 0; i < N; i++) {
    most = std::fmax(most, std::fabs(a[i] - b[i]));
    largest = std::fmax(largest, std::fabs(b[i]));
  }
  return most / largest;
}

}  // namespace

int main() {
  const dnnl_version_t *version = dnnl_version();
  std::printf("oneDNN %d.%d.%d %s\n", version->major, version->minor, version->patch, version->hash);

  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  // 1/64 apart, so that a moved element is exact in float.
  auto element = [&] { return std::round(normal(random) * 64) / 64; };
  Row x(N), scale(N), dy(N), dx(N), dscale(N);
  for (int i = 0; i < N; i++) {
    x[i] = element();
    scale[i] = 1 + element() / 4;
    dy[i] = 0.5f + element();  // not 0 in the mean, so that the term shows
  }

  Norm norm;
  norm.backward(x, scale, dy, dx, dscale);
  double expected = apart(dx, formula(x, scale, dy, false));
  double found = apart(dx, formula(x, scale, dy, true));
  double parameter = apart(dscale, scaleGradient(x, dy));
  double moved = apart(dx, differences(norm, x, scale, dy));
  std::printf("DIFF_SRC compared with the derivative of RMSNorm:                   %.1e\n", expected);
  std::printf("DIFF_SRC compared with the same minus LayerNorm's mean(dy * scale): %.1e\n", found);
  std::printf("DIFF_SRC compared with differences of the forward pass:             %.1e\n", moved);
  std::printf("DIFF_SCALE compared with its formula:                               %.1e\n", parameter);
  bool right = expected < 1e-3 && moved < 1e-3;
  std::printf("%s\n", right ? "right" : "WRONG: DIFF_SRC is not the gradient of the forward pass");
  return right ? 0 : 1;
}
