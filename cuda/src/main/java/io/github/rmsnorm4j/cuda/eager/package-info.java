/**
 * Operations without fusion, for {@code rmsnorm compare}. The package is exported to the module
 * studies alone, which has that command.
 */
package io.github.rmsnorm4j.cuda.eager;
