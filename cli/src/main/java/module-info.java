/** The {@code rmsnorm} command. */
module io.github.rmsnorm4j.cli {
  requires info.picocli;
  requires io.github.rmsnorm4j;
  requires jdk.management;

  opens io.github.rmsnorm4j.cli to
      info.picocli;
}
