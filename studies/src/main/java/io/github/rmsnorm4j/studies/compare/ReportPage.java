package io.github.rmsnorm4j.studies.compare;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.report.Page;
import io.github.rmsnorm4j.report.Table;
import java.util.List;
import java.util.Optional;

/** The results as a page that one may send to a colleague. */
public final class ReportPage {
  private final Results results;
  private final Verdicts verdicts;
  private final Timing timing;

  /** Of results. */
  public ReportPage(Results results) {
    this.results = results;
    verdicts = new Verdicts(results);
    timing = results.timing(results.headline());
  }

  /** Makes the page. */
  public Page page() {
    Page page = Page.titled("RMSNorm against LayerNorm, measured here");
    page.lead(verdicts.lead());
    keyFigures(page);
    page.paragraph(
        "Naive: one pass over memory per operation, each with a whole temporary, as code in an eager"
            + " framework runs. Fused: one pass over each row, as this library does it; the LayerNorm"
            + " of a framework is fused as well.");
    results.notes().forEach(page::paragraph);
    page.section("How much time does RMSNorm save?").list(verdicts.overhead());
    new ReportCharts(results).addTo(page);
    page.section("What does fusion save?").list(verdicts.fusion());
    page.section("Naive RMSNorm against fused LayerNorm").list(verdicts.headline());
    page.section("Can LayerNorm be fused?").list(verdicts.layerNormFused());
    page.section("How do fused kernels do it?").list(verdicts.howKernelsFuse());
    ReportTables tables = new ReportTables(results);
    page.section("Where naive float16 overflows")
        .paragraph(
            "The largest float16 number is 65504, so squares of elements past 255.9 are infinite."
                + " The fused norms compute in float32 inside, with sums in float64.");
    tables.halfRows().forEach(page::table);
    page.section("All figures");
    tables.figures().forEach(page::table);
    page.details("How the figures were made", this::method);
    repeat(page);
    return page;
  }

  private void keyFigures(Page page) {
    time(page, Variant.RMS_FUSED, "fused RMSNorm");
    time(page, Variant.RMS_NAIVE, "naive RMSNorm");
    Optional<Long> naive = memory(Variant.RMS_NAIVE);
    Optional<Long> fused = memory(Variant.LAYER_FUSED);
    if (naive.isPresent() && fused.isPresent()) {
      keyFigure(
          page,
          "the memory: naive RMSNorm over fused LayerNorm",
          (double) naive.get() / fused.get(),
          Contrast.differ(naive.get(), fused.get()));
    }
  }

  private void time(Page page, Variant variant, String name) {
    Contrast.Ratio ratio =
        new Contrast.Ratio(timing.of(variant).nanos(), timing.of(Variant.LAYER_FUSED).nanos());
    keyFigure(
        page, "the time: %s over fused LayerNorm".formatted(name), ratio.value(), ratio.differs());
  }

  /** A ratio stands large only where it is one: else what is large says that none was found. */
  private static void keyFigure(Page page, String meaning, double ratio, boolean different) {
    String times = Figures.ratio(ratio) + " x";
    page.keyFigure(
        different ? times : "no difference",
        different
            ? meaning
            : meaning + "; the medians' ratio, " + times + ", is within the spread");
  }

  private Optional<Long> memory(Variant variant) {
    return results.memory(results.headline(), variant).map(MemoryUse::bytes);
  }

  private void method(Page page) {
    Wording wording = new Wording(results.run());
    page.list(
        List.of(
            wording.clock()
                + " All take turns in one process; each subject has 3 to 9 rounds after it was warmed up. The median and the whole spread are shown.",
            "Two times are said to differ only if every round of the one was longer than every round of the other.",
            "Naive temporaries come from memory that earlier ones gave back, as from an eager framework's caching allocator: no call pays for fresh memory. A temporary is freed after its last use.",
            "Bytes are counted, not measured: one for each byte of a tensor that an operation reads or writes. What a row's statistic and the parameters take is left out. Operations are additions and multiplications of elements, the same for both forms.",
            "\"Times a copy\" is the median time, divided by that of a copy of one tensor, in the same rounds. It compares variants: GB/s do not, because a naive variant reads and writes more bytes. Where tensors stay in a cache it can be below 1.",
            wording.memory(),
            "Errors are the largest of up to 16 rows against the definition in float64, as a part of the row's largest element; backward, that of the gain's gradient is among them. An answer that is off by more than its rounding explains ends the run.",
            "Backward, naive: what automatic differentiation of the naive forward pass does, operation by operation.",
            wording.last()));
  }

  private void repeat(Page page) {
    Machine machine = results.run().machine();
    page.section("To repeat it")
        .code(results.run().command())
        .table(
            Table.titled("What it ran on")
                .text("")
                .text("")
                .row("program", results.run().version())
                .row("date", results.run().date() + ", in " + Figures.time(results.seconds() * 1e9))
                .row("processor", machine.cpu() + ", " + machine.processors() + " usable")
                .row("system", machine.system())
                .row("Java", machine.java())
                .row(
                    "flags of the JVM",
                    machine.flags().isEmpty() ? "none" : String.join(" ", machine.flags()))
                .row("kernels of the fused norms", machine.backend())
                .row("threads", new Wording(results.run()).threads())
                .row("memory to take", Figures.bytes(results.run().availableBytes())));
  }
}
