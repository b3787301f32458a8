module consumer {
  requires io.github.rmsnorm4j;
  requires io.github.rmsnorm4j.cuda;
  requires io.github.rmsnorm4j.formats;
}
