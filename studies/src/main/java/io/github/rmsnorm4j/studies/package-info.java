/**
 * Experiments with norms whose results are pages: the commands {@code compare}, {@code train} and
 * {@code story}. This module may use models, report, measure, cuda and the command line, to which
 * {@link io.github.rmsnorm4j.studies.Studies} adds the commands; OpenBLAS computes the trainings.
 * Begin with the command of a study, {@link io.github.rmsnorm4j.studies.Compare}, {@link
 * io.github.rmsnorm4j.studies.Train} or {@link io.github.rmsnorm4j.studies.Story}, and go on in the
 * package of that name.
 */
package io.github.rmsnorm4j.studies;
