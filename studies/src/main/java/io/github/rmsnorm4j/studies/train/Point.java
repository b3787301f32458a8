package io.github.rmsnorm4j.studies.train;

/**
 * A stretch of a training.
 *
 * @param step its last step, from 1 on
 * @param seconds that training had taken until then
 * @param loss mean over the stretch
 */
public record Point(long step, double seconds, double loss) {}
