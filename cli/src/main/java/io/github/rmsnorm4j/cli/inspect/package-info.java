/** What {@code rmsnorm inspect} shows. */
package io.github.rmsnorm4j.cli.inspect;
