/**
 * The command {@code rmsnorm bench}: this library compared with others, with itself at another
 * commit, and on a GPU.
 *
 * <p>It may use cuda, cuda/check, formats, measure and cli, and starts the measurements of
 * benchmarks and peers in processes of their own. {@code Bench} is where to begin reading.
 */
package io.github.rmsnorm4j.bench;
