package io.github.rmsnorm4j.report.browser;

import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * A headless Chromium or Chrome with nobody's settings, for tests of pages. The browser and its
 * driver are those on this machine; nothing is downloaded.
 */
public final class Browser implements AutoCloseable {
  private static final List<String> BROWSERS =
      List.of(
          "chromium",
          "chromium-browser",
          "google-chrome",
          "google-chrome-stable",
          "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
          "/Applications/Chromium.app/Contents/MacOS/Chromium");
  private static final List<String> DRIVERS =
      List.of("chromedriver", "/usr/lib/chromium-browser/chromedriver");
  private static final Pattern REQUEST =
      Pattern.compile(
          "\"method\":\"Network\\.requestWillBeSent\".*?\"request\":\\{.*?\"url\":\"([^\"]*)\"");

  /** The time limit of tests: on a busy machine the driver, a page or a script may take long. */
  private static final Duration LONGEST = Duration.ofMinutes(10);

  /** It warns that it was not made for this very version; what is used here is in all of them. */
  private static final Logger VERSIONS =
      Logger.getLogger("org.openqa.selenium.devtools.CdpVersionFinder");

  static {
    VERSIONS.setLevel(Level.SEVERE);
  }

  private final ChromeDriver driver;

  private Browser(ChromeDriver driver) {
    this.driver = driver;
  }

  /**
   * Starts a browser. Where there is none the test is skipped, and with the environment's {@code
   * CI=true} it fails.
   *
   * @param profile an empty folder for what the browser keeps
   * @return the browser, to be closed
   */
  public static Browser start(Path profile) {
    Optional<Path> browser = find(BROWSERS);
    Optional<Path> chromedriver = find(DRIVERS);
    if (browser.isEmpty() || chromedriver.isEmpty()) {
      String missing =
          "pages are tested in a browser: %s found on the PATH"
              .formatted(browser.isEmpty() ? "no Chromium or Chrome" : "no chromedriver");
      if ("true".equals(System.getenv("CI"))) {
        fail(missing);
      }
      abort(missing);
    }
    ChromeOptions options = new ChromeOptions();
    options.setBinary(browser.get().toFile());
    options.addArguments(
        "--headless=new",
        "--no-sandbox", // The pages are our own, and root has no sandbox.
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--user-data-dir=" + profile.toAbsolutePath(),
        "about:blank"); // In place of a page of the browser's own.
    LoggingPreferences logs = new LoggingPreferences();
    logs.enable(LogType.BROWSER, Level.ALL);
    logs.enable(LogType.PERFORMANCE, Level.ALL);
    options.setCapability("goog:loggingPrefs", logs);
    options.setPageLoadTimeout(LONGEST);
    options.setScriptTimeout(LONGEST);
    ChromeDriverService service =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(chromedriver.get().toFile())
            .usingAnyFreePort()
            .withTimeout(LONGEST)
            .build();
    return new Browser(new ChromeDriver(service, options));
  }

  private static Optional<Path> find(List<String> names) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    return names.stream()
        .flatMap(
            name ->
                name.startsWith("/")
                    ? Stream.of(Path.of(name))
                    : Stream.of(path.split(File.pathSeparator))
                        .map(folder -> Path.of(folder, name)))
        .filter(file -> Files.isExecutable(file) && Files.isRegularFile(file))
        .findFirst();
  }

  /**
   * Sets the size of what is seen and the user's preference.
   *
   * @param width in CSS pixels
   * @param height in CSS pixels
   * @param dark whether pages in dark colours are preferred
   */
  public void show(int width, int height, boolean dark) {
    driver.executeCdpCommand(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
    driver.executeCdpCommand(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
  }

  /**
   * Loads a page. What was said and asked for before is forgotten.
   *
   * @param file the page's file
   */
  public void open(Path file) {
    open(file, "");
  }

  /**
   * Loads a page at a place in it, even if it is loaded already.
   *
   * @param file the page's file
   * @param hash the end of its address, from {@code #} on, or nothing
   */
  public void open(Path file, String hash) {
    driver.get("about:blank");
    console();
    requests();
    driver.get(file.toUri() + hash);
  }

  /**
   * Sets the languages that the user prefers.
   *
   * @param languages for example {@code ko-KR,ko}
   */
  public void speak(String languages) {
    Object agent = driver.executeScript("return navigator.userAgent");
    driver.executeCdpCommand(
        "Emulation.setUserAgentOverride", Map.of("userAgent", agent, "acceptLanguage", languages));
  }

  /**
   * Runs a script in the page.
   *
   * @param function the body of a function of JavaScript
   * @param arguments its {@code arguments}
   * @return what it returns: a string, a long, a double, a boolean, a list, a map or null
   */
  public Object run(String function, Object... arguments) {
    return driver.executeScript(function, arguments);
  }

  /**
   * Presses a key while an element has the focus.
   *
   * @param selector of CSS, for the element
   * @param key its name in JavaScript: {@code ArrowUp}
   */
  public void press(String selector, String key) {
    driver.executeScript("document.querySelector(arguments[0]).focus()", selector);
    for (String type : List.of("rawKeyDown", "keyUp")) {
      driver.executeCdpCommand("Input.dispatchKeyEvent", Map.of("type", type, "key", key));
    }
  }

  /**
   * Drags an element with the mouse.
   *
   * @param selector of CSS, for the element
   * @param right how far to the right, in CSS pixels
   * @param down how far downwards
   */
  public void drag(String selector, int right, int down) {
    List<?> middle =
        (List<?>)
            driver.executeScript(
                """
                const element = document.querySelector(arguments[0]);
                element.scrollIntoView({ block: "center" });
                const box = element.getBoundingClientRect();
                return [box.left + box.width / 2, box.top + box.height / 2];
                """,
                selector);
    double x = ((Number) middle.get(0)).doubleValue();
    double y = ((Number) middle.get(1)).doubleValue();
    mouse("mousePressed", x, y);
    mouse("mouseMoved", x + right, y + down);
    mouse("mouseReleased", x + right, y + down);
  }

  private void mouse(String type, double x, double y) {
    driver.executeCdpCommand(
        "Input.dispatchMouseEvent",
        Map.of("type", type, "x", x, "y", y, "button", "left", "buttons", 1, "clickCount", 1));
  }

  /**
   * What has been said in the console since the last call, at whatever level.
   *
   * @return the messages, with their levels
   */
  public List<String> console() {
    return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
        .map(LogEntry::toString)
        .toList();
  }

  /**
   * What the browser has asked for since the last call, the page itself among it.
   *
   * @return the URLs, but those that hold their content ({@code data:})
   */
  public List<String> requests() {
    List<String> requests = new ArrayList<>();
    for (LogEntry entry : driver.manage().logs().get(LogType.PERFORMANCE).getAll()) {
      Matcher request = REQUEST.matcher(entry.getMessage());
      if (request.find() && !request.group(1).startsWith("data:")) {
        requests.add(request.group(1));
      }
    }
    return requests;
  }

  /**
   * Takes a picture of the whole page, from top to bottom.
   *
   * @param png where it goes
   * @throws IOException if it cannot be written
   */
  public void screenshot(Path png) throws IOException {
    Map<String, Object> taken =
        driver.executeCdpCommand(
            "Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true));
    Files.write(png, Base64.getDecoder().decode((String) taken.get("data")));
  }

  /**
   * Prints the page.
   *
   * @param pdf where it goes
   * @throws IOException if it cannot be written
   */
  public void print(Path pdf) throws IOException {
    Map<String, Object> printed =
        driver.executeCdpCommand("Page.printToPDF", Map.of("printBackground", false));
    Files.write(pdf, Base64.getDecoder().decode((String) printed.get("data")));
  }

  /** Ends the browser. */
  @Override
  public void close() {
    driver.quit();
  }
}
