package io.github.rmsnorm4j.studies.train;

import io.github.rmsnorm4j.measure.Machine;
import io.github.rmsnorm4j.report.Page;
import io.github.rmsnorm4j.report.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleFunction;

/** The results as a page that one may send to a colleague. */
public final class ReportPage {
  private final Results results;
  private final Plan plan;

  /** The study of depth is about what becomes of depth, and may run on a machine in use. */
  private final boolean timed;

  private final Verdicts verdicts;

  /** Of results. */
  public ReportPage(Results results) {
    this.results = results;
    plan = results.plan();
    timed = !plan.isDepth();
    verdicts = new Verdicts(results);
  }

  /** Makes the page. */
  public Page page() {
    String title =
        switch (plan.kind()) {
          case USUAL, QUICK -> "LayerNorm and RMSNorm, trained here";
          case NORMS -> "Four norms, each at its best rate";
          case DEPTH -> "Deep stacks with each norm";
        };
    Page page = Page.titled(title);
    List<String> sentences = verdicts.all();
    page.lead(sentences.getFirst());
    page.list(sentences.subList(1, sentences.size()));
    new ReportCharts(results).addTo(page);
    page.section("All figures").table(figures()).table(shares());
    if (!results.pairs().isEmpty()) {
      page.table(differences());
    }
    page.table(trainings());
    page.details("How the figures were made", this::method);
    repeat(page);
    return page;
  }

  private Table figures() {
    Columns<Row> columns =
        new Columns<Row>()
            .with("norm", Row::name)
            .with("rate", row -> Figures.rate(row.rate()))
            .with("parameters", row -> Figures.count(row.parameters()))
            .with("loss", row -> Figures.loss(row.loss().mean()))
            .with("standard deviation", row -> Figures.spread(row.loss().deviation()))
            .with(
                "95 % interval",
                row ->
                    Figures.spread(row.loss().low()) + " to " + Figures.spread(row.loss().high()))
            .with(plan.task().unit(), row -> Figures.percent(row.accuracy()))
            .with("worst seed", row -> Figures.percent(row.lowestAccuracy()));
    if (timed) {
      columns.with("learned at step", row -> Figures.steps(row.learnedAt().mean()));
      columns.with("median step", row -> Figures.millis(row.stepMillis().mean()));
    }
    columns.with("seeds", row -> String.valueOf(row.seeds()));
    columns.with("diverged", row -> String.valueOf(row.diverged()));
    return columns.table("At the end, on held-out batches", 1, results.rows());
  }

  /** {@code +0.0087 (-0.0109 to +0.0282)}; a dash where no pair has the value. */
  private static String interval(Interval interval, DoubleFunction<String> shown) {
    if (interval.values() == 0) {
      return "-";
    }
    String mean = shown.apply(interval.mean());
    return interval.values() == 1
        ? mean
        : "%s (%s to %s)"
            .formatted(mean, shown.apply(interval.low()), shown.apply(interval.high()));
  }

  private Table shares() {
    return new Columns<Row>()
        .with("norm", Row::name)
        .with("norms", row -> Figures.percent(row.shares().norm()))
        .with("attention", row -> Figures.percent(row.shares().attention()))
        .with("MLP", row -> Figures.percent(row.shares().mlp()))
        .with("rest", row -> Figures.percent(row.shares().rest()))
        .table("Where a step's time goes", 1, results.rows());
  }

  /** A column for each quantity that some pair has: in a short run nothing has been learned. */
  private Table differences() {
    boolean learned =
        timed && results.pairs().stream().anyMatch(pair -> pair.learnedAt().values() > 0);
    Columns<Pair> columns = new Columns<>();
    columns.with("", pair -> pair.one().name() + " minus " + pair.other().name());
    columns.with("loss (nats)", pair -> interval(pair.loss(), Figures::difference));
    if (learned) {
      columns.with("steps to learn", pair -> interval(pair.learnedAt(), Figures::stepsDifference));
    }
    if (timed) {
      columns.with(
          "time of a step", pair -> interval(pair.stepMillis(), Figures::millisDifference));
    }
    columns.with("seeds", pair -> String.valueOf(pair.loss().values()));
    return columns.table(
        "Paired differences, seed by seed: mean (95 % interval)", 1, results.pairs());
  }

  private Table trainings() {
    return new Columns<Outcome>()
        .with("for", o -> o.run().stage() == Stage.TUNING ? "choosing a rate" : "the report")
        .with("model", o -> o.run().contender().name(plan.isDepth()))
        .with("rate", o -> Figures.rate(o.run().rate()))
        .with("seed", o -> String.valueOf(o.run().seed()))
        .with("loss", o -> Figures.loss(o.loss()))
        .with("right", o -> Figures.percent(o.accuracy()))
        .with("steps", o -> Figures.count(o.steps()))
        .with("time", o -> Figures.seconds(o.seconds()))
        .table("Every training", 2, results.outcomes());
  }

  private void method(Page page) {
    Sizes sizes = plan.sizes();
    List<String> entries = new ArrayList<>();
    entries.add(
        plan.task().isRecall()
            ? "The task: %s pairs of key and value out of %s tokens, then each key once more among others at random; its value is wanted. Guessing among the values that were there gives %s."
                .formatted(
                    plan.task().pairs(),
                    plan.task().vocabulary(),
                    Figures.percent(1.0 / plan.task().pairs()))
            : "The text: %s, %s characters, the last tenth held out; the next character is wanted."
                .formatted(plan.task().name(), Figures.count(plan.task().characters())));
    entries.add(
        "The model: a Pre-Norm Transformer as Llama's, width %s, %s heads, SwiGLU, unless the table says otherwise; AdamW, %s steps of %s sequences of %s tokens, a tenth of them warm-up, then a cosine down to a tenth of the rate."
            .formatted(
                sizes.width(),
                sizes.heads(),
                sizes.steps(),
                sizes.batch(),
                plan.task().sequence()));
    entries.add(
        "A seed decides the initial matrices and the order of the data, the same for every norm. LayerNorm has a bias, and so as many parameters more as the widths of its norms.");
    if (!plan.tuningSeeds().isEmpty()) {
      entries.add(
          "Each model's rate is the one of %s with the smallest mean final loss over %s seeds (a training that diverged counts as infinite). The reported trainings have other seeds."
              .formatted(plan.rates().size(), plan.tuningSeeds().size()));
    }
    entries.add(
        "Loss and accuracy are of 32 held-out batches after the last step, the same for all. Curves are means over stretches of steps.");
    entries.add(
        "Intervals are of Student's t over seeds. Two things are said to differ only if the 95 % interval of their paired difference leaves out 0. With several comparisons on a page some will do so by chance.");
    entries.add(
        "Time is of the clock, %s trainings side by side, each on one thread; both norms are this library's fused kernels. The median step and the shares leave out the first tenth of a training, in which code is still being compiled; the curves by second do not."
            .formatted(results.circumstances().jobs()));
    page.list(entries);
  }

  private void repeat(Page page) {
    Machine machine = results.circumstances().machine();
    page.section("To repeat it")
        .code(results.circumstances().command())
        .table(
            Table.titled("What it ran on")
                .text("")
                .text("")
                .row("program", results.circumstances().version())
                .row("date", results.circumstances().date())
                .row("processor", machine.cpu() + ", " + machine.processors() + " usable")
                .row("system", machine.system())
                .row("Java", machine.java())
                .row("kernels of the norms", machine.backend())
                .row("trainings side by side", String.valueOf(results.circumstances().jobs())));
  }
}
