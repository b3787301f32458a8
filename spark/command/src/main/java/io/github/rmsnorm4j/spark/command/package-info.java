/**
 * The command {@code rmsnorm spark}: it starts the job of the module spark in a process of its own.
 *
 * <p>It may use the core, measure and the command line. {@code Spark} is where to begin reading.
 */
package io.github.rmsnorm4j.spark.command;
