/** Text for terminals. */
package io.github.rmsnorm4j.cli.text;
