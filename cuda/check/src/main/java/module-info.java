/** Checks the norms on a GPU: bits, errors, guards and times. A program, not a library. */
module io.github.rmsnorm4j.cuda.check {
  requires transitive io.github.rmsnorm4j.cuda;

  exports io.github.rmsnorm4j.cuda.check;
}
