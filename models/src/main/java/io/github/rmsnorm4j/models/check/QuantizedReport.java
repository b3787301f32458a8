package io.github.rmsnorm4j.models.check;

import java.util.List;

/**
 * Which norms and rules made quantised rows Y.
 *
 * @param status how much is known of the norm
 * @param verdict the same in sentences, and which rules
 * @param type the name of the type of Y
 * @param named the norms and rules that make every byte, likeliest first; none if there is none
 * @param others the nearest others
 * @param rows rows that were compared
 * @param width elements per row
 */
public record QuantizedReport(
    CheckReport.Status status,
    List<String> verdict,
    String type,
    List<QuantizedFinding> named,
    List<QuantizedFinding> others,
    long rows,
    int width) {}
