/** What {@code rmsnorm train} does: trainings side by side, studies, and what is said of them. */
package io.github.rmsnorm4j.studies.train;
