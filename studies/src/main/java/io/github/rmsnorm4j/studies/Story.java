package io.github.rmsnorm4j.studies;

import io.github.rmsnorm4j.cli.ReportOptions;
import io.github.rmsnorm4j.cli.Version;
import io.github.rmsnorm4j.cli.WrongUseException;
import io.github.rmsnorm4j.models.transformer.Arithmetic;
import io.github.rmsnorm4j.models.transformer.GreedyText;
import io.github.rmsnorm4j.models.transformer.Stories260K;
import io.github.rmsnorm4j.models.transformer.TokenText;
import io.github.rmsnorm4j.models.transformer.Tokenizer;
import io.github.rmsnorm4j.models.transformer.Weights;
import io.github.rmsnorm4j.studies.story.Activations;
import io.github.rmsnorm4j.studies.story.Change;
import io.github.rmsnorm4j.studies.story.Comparison;
import io.github.rmsnorm4j.studies.story.ReportPage;
import io.github.rmsnorm4j.studies.story.Results;
import io.github.rmsnorm4j.studies.story.SampleText;
import io.github.rmsnorm4j.studies.story.Storyteller;
import io.github.rmsnorm4j.studies.story.TerminalTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rmsnorm story}: a trained model at work, with its norms as they are or changed. */
@Command(
    name = "story",
    description = {
      "Tell a story with a small trained model, and see what its norms do.",
      "",
      "The model is stories260K, a Llama of 5 blocks of width 64 with 11 RMSNorms, trained on short"
          + " stories. It is part of this command, so nothing is fetched. Each token is the one that"
          + " the model finds likeliest: the same command always tells the same story.",
      "",
      "The options change all norms of the model at once. Nothing is trained again, so a change shows"
          + " what the model does without the norm that it was trained with.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  rmsnorm story",
      "  rmsnorm story \"The cat and the dog\" --like layernorm",
      "  rmsnorm story --compare",
      "  rmsnorm story --like none --report story.html"
    })
final class Story implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "PROMPT",
      arity = "0..1",
      description = "What the story begins with (default: the model writes the beginning, too).")
  private String prompt = "";

  @Option(
      names = "--tokens",
      paramLabel = "N",
      description =
          "Write at most this many tokens after the prompt (default: until the story ends, but not"
              + " beyond the model's 512 positions).")
  private Integer tokens;

  @Mixin private StoryNorm norm;

  @Option(
      names = "--compare",
      description =
          "Show a table instead of the story: for a number of changes, and for that of the options,"
              + " the loss on three short stories in nats, and where its story begins to differ"
              + " from that of the trained model.")
  private boolean compare;

  @Mixin private StoryModel model;

  @Mixin private StoryActivations activations;

  @Mixin private ReportOptions reports;

  @Override
  public Integer call() throws IOException {
    reports.requireDistinct();
    Change change = norm.change();
    Tokenizer tokenizer = Stories260K.tokenizer();
    try (Weights trained = model.load(tokenizer.size())) {
      WrongUseException.checked(() -> change.config(trained.config()));
      int positions = trained.config().maxPositions();
      WrongUseException.requireRange("--tokens", tokens, positions);
      int most = tokens == null ? positions : tokens;
      int[] begin = begin(tokenizer, positions);
      try (ReportOptions.Files files = reports.begin();
          Activations rows =
              activations.begin(trained, change, SampleText.windows(tokenizer), reports.force())) {
        say(
            "%s%s; matrix products: %s"
                .formatted(
                    model.name(), compare ? "" : ", norms: " + change, Arithmetic.PLAIN.product()));
        if (StoryNorm.isWithoutEffect(change)) {
          say("the cast order changes nothing on float32 rows; --type bf16 or f16 rounds them");
        }
        List<Comparison> comparisons = List.of();
        if (compare) {
          comparisons = compare(trained, tokenizer, change, begin, most);
        } else {
          tell(trained, tokenizer, change, begin, most);
        }
        if (files.page() != null || files.data() != null) {
          write(files, trained, tokenizer, change, comparisons);
        }
        if (rows != null) {
          rows.write();
          say("--activations wrote " + rows);
        }
      }
    }
    return ExitCode.OK;
  }

  /** The prompt's tokens; a prompt that is far too long is not encoded. */
  private int[] begin(Tokenizer tokenizer, int positions) {
    int fewest = tokenizer.fewestTokens(prompt);
    String count = "at least " + fewest;
    if (fewest <= positions) {
      int[] encoded = tokenizer.encode(prompt);
      if (encoded.length <= positions) {
        return encoded;
      }
      count = String.valueOf(encoded.length);
    }
    throw new WrongUseException(
        "PROMPT has %s tokens, the model has %s positions: give a shorter one"
            .formatted(count, positions));
  }

  private void tell(Weights trained, Tokenizer tokenizer, Change change, int[] begin, int most) {
    PrintWriter out = spec.commandLine().getOut();
    TokenText text = new TokenText(tokenizer);
    for (int i = 1; i < begin.length; i++) {
      out.print(text.add(begin[i]));
    }
    out.flush();
    GreedyText.Written written;
    try (Storyteller teller = new Storyteller(trained, change)) {
      written =
          teller.write(
              begin,
              most,
              token -> {
                out.print(text.add(token));
                out.flush();
              });
    }
    out.println(text.end());
    out.flush();
    if (prompt.isBlank() && written.tokens().isEmpty()) {
      say(TerminalTable.NO_STORY);
    }
    switch (written.end()) {
      case NO_POSITIONS -> say("all positions of the model are taken: the story stops here");
      case NOT_FINITE -> say("the model's logits are infinite or NaN: the story stops here");
      case ENOUGH -> {
        if (tokens != null) {
          say("--tokens %s: the story is cut here ...".formatted(tokens));
        }
      }
      case COMPLETE -> {}
    }
  }

  private List<Comparison> compare(
      Weights trained, Tokenizer tokenizer, Change change, int[] begin, int most)
      throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    TerminalTable.head().forEach(out::println);
    List<Comparison> comparisons =
        Comparison.run(
            trained,
            tokenizer,
            Change.compared(change),
            begin,
            most,
            SampleText.windows(tokenizer),
            result -> {
              TerminalTable.lines(result, tokens).forEach(out::println);
              out.flush();
            });
    TerminalTable.legend().forEach(out::println);
    return comparisons;
  }

  private void write(
      ReportOptions.Files files,
      Weights trained,
      Tokenizer tokenizer,
      Change change,
      List<Comparison> comparisons)
      throws IOException {
    List<Change> changes = Stream.of(Change.NONE, change).distinct().toList();
    Results results =
        new Results(
            new Version().getVersion()[0],
            reports.command(),
            Results.streams(trained, tokenizer, changes),
            comparisons);
    files.write(new ReportPage(results).page().html(), results.json());
    reports.written().forEach(this::say);
  }

  private void say(String line) {
    spec.commandLine().getErr().println("rmsnorm story: " + line);
  }
}
