/**
 * The {@code rmsnorm} command: what works on a user's numbers and files.
 *
 * <p>It may use the core, cuda, formats, models, measure and report, and knows no study and no
 * measurement: those modules add their commands with {@link io.github.rmsnorm4j.cli.Commands}.
 * {@link io.github.rmsnorm4j.cli.Rmsnorm} is where to begin reading; each command is a class of its
 * name.
 */
package io.github.rmsnorm4j.cli;
