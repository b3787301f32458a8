package io.github.rmsnorm4j.spark;

import io.github.rmsnorm4j.CastOrder;
import io.github.rmsnorm4j.ElementType;
import io.github.rmsnorm4j.RmsNorm;

/** Whose RMSNorm; named as on the command line, and as in {@link RmsNorm}. */
enum Preset {
  llama(CastOrder.LLAMA),
  gemma(CastOrder.FLOAT32),
  t5(CastOrder.T5),
  paper(CastOrder.FLOAT32),
  pytorch(CastOrder.FLOAT32),
  onnx(CastOrder.ONNX);

  final CastOrder castOrder;

  Preset(CastOrder castOrder) {
    this.castOrder = castOrder;
  }

  RmsNorm.Builder builder(int width, ElementType type) {
    return switch (this) {
      case llama -> RmsNorm.llama(width);
      case gemma -> RmsNorm.gemma(width);
      case t5 -> RmsNorm.t5(width);
      case paper -> RmsNorm.paper(width);
      case pytorch -> RmsNorm.pytorch(width, type);
      case onnx -> RmsNorm.onnx(width);
    };
  }
}
