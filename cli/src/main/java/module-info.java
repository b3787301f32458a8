/** The {@code rmsnorm} command. */
module io.github.rmsnorm4j.cli {
  requires com.fasterxml.jackson.core;
  requires info.picocli;
  requires io.github.rmsnorm4j.checkpoint;
  requires io.github.rmsnorm4j.formats;
  requires io.github.rmsnorm4j.measure;
  requires io.github.rmsnorm4j.report;
  requires io.github.rmsnorm4j.transformer;
  requires static jdk.incubator.vector;
  requires java.logging;
  requires jdk.management;
  requires jdk.unsupported;
  requires me.tongfei.progressbar;
  requires org.bytedeco.javacpp;

  opens io.github.rmsnorm4j.cli to
      info.picocli;
}
