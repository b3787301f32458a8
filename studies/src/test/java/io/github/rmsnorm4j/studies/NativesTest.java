package io.github.rmsnorm4j.studies;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checkouts here have scripts in the place of Maven. */
class NativesTest {
  /** What Maven would fetch is put into the folder that it is told. */
  private static final String FETCH =
      """
      for word; do case $word in
        -Dartifact=*) artifact=${word#*=} ;;
        -DoutputDirectory=*) folder=${word#*=} ;;
      esac; done
      jar=$(echo "$artifact" | cut -d: -f2,3,5 | tr : -).jar
      """;

  @TempDir Path checkout;
  private final StringWriter err = new StringWriter();

  private List<Path> fetched(String script) throws IOException, InterruptedException {
    Files.writeString(checkout.resolve("mvnw"), script, StandardCharsets.ISO_8859_1);
    Files.writeString(checkout.resolve("pom.xml"), "");
    return new Natives(checkout).fetched(new PrintWriter(err, true));
  }

  /** Two first trainings at a time: both fetch, and one of them comes second. */
  @Test
  void aJarThatAnotherTrainingFetchedMeanwhileIsTaken() throws Exception {
    List<Path> jars =
        fetched(FETCH + "echo other > \"$folder/../$jar\"; echo own > \"$folder/$jar\"\n");
    assertThat(jars).hasSize(2).allSatisfy(jar -> assertThat(jar).hasContent("other"));
    assertThat(jars.getFirst().getParent()).isDirectoryNotContaining(file -> !jars.contains(file));
  }

  @Test
  void aFailureIsShownWhateverBytesItIsWrittenIn() {
    assertThatThrownBy(() -> fetched("printf '[ERROR] caf\\351: no route\\n'; exit 1\n"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be fetched; trainings need it");
    assertThat(err.toString()).contains("[ERROR] caf", ": no route");
  }
}
