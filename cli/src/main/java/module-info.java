/** The {@code rmsnorm} command. */
module io.github.rmsnorm4j.cli {
  requires info.picocli;
  requires io.github.rmsnorm4j.formats;
  requires io.github.rmsnorm4j.report;
  requires java.logging;
  requires jdk.management;
  requires me.tongfei.progressbar;

  opens io.github.rmsnorm4j.cli to
      info.picocli;
}
