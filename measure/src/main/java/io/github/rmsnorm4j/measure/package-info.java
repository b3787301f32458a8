/** Times things in turn, starts fresh JVMs to do so, and describes the machine. */
package io.github.rmsnorm4j.measure;
