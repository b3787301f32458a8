/** Times things in turn, starts fresh JVMs to do so, describes the machine, and breaks text. */
package io.github.rmsnorm4j.measure;
