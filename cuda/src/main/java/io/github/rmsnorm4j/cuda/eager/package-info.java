/**
 * Operations without fusion, for {@code rmsnorm compare}. The package is exported to the command
 * line alone.
 */
package io.github.rmsnorm4j.cuda.eager;
