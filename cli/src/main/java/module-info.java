/** The {@code rmsnorm} command. */
module io.github.rmsnorm4j.cli {
  requires com.fasterxml.jackson.annotation;
  requires com.fasterxml.jackson.core;
  requires com.fasterxml.jackson.databind;
  requires info.picocli;
  requires io.github.rmsnorm4j.checkpoint;
  requires io.github.rmsnorm4j.cuda;
  requires io.github.rmsnorm4j.cuda.check;
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
  opens io.github.rmsnorm4j.cli.compare to
      com.fasterxml.jackson.databind;
  opens io.github.rmsnorm4j.cli.story to
      com.fasterxml.jackson.databind;
  opens io.github.rmsnorm4j.cli.train to
      com.fasterxml.jackson.databind;
}
