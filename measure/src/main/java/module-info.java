/** How this project measures: things that are compared take turns in one process. */
module io.github.rmsnorm4j.measure {
  requires transitive io.github.rmsnorm4j;
  requires java.management;

  exports io.github.rmsnorm4j.measure;
}
