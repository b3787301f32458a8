package io.github.rmsnorm4j.studies.story;

import io.github.rmsnorm4j.models.transformer.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Three short stories that the model has not seen, to compute its loss on. */
public final class SampleText {
  private SampleText() {}

  /** The stories, each on one line. */
  public static List<String> stories() throws IOException {
    try (InputStream in = SampleText.class.getResourceAsStream("sample.txt")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      return Arrays.stream(text.strip().split("\\R{2,}"))
          .map(story -> story.replaceAll("\\R", " "))
          .toList();
    }
  }

  /** The stories as tokens, each a window of its own that begins with {@link Tokenizer#BEGIN}. */
  public static List<int[]> windows(Tokenizer tokenizer) throws IOException {
    return stories().stream().map(tokenizer::encode).toList();
  }
}
