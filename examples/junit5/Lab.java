import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A lab for Java tests: {@code doorlab up --json} with a clock that the test moves. Java 11 or later, no library.
 *
 * <pre>
 * static Lab lab;
 * {@literal @}BeforeAll static void start() throws Exception { lab = new Lab(); }
 * {@literal @}AfterAll static void stop() { lab.close(); }
 * </pre>
 *
 * The environment variable DOORLAB names the binary when it isn't in the PATH.
 */
final class Lab implements AutoCloseable {
    /** An answer: its status and its JSON as text. */
    static final class Answer {
        final int status;
        final String json;

        Answer(int status, String json) {
            this.status = status;
            this.json = json;
        }

        /** The first value of a field, wherever it is; null without one. A project with a JSON library would use that. */
        String field(String name) {
            return all(name).stream().findFirst().orElse(null);
        }

        /** All values of a field, in their order. */
        List<String> all(String name) {
            Matcher m = Pattern.compile("\"" + name + "\":(?:\"((?:[^\"\\\\]|\\\\.)*)\"|([^,}\\]]+))").matcher(json);
            List<String> out = new ArrayList<>();
            while (m.find()) {
                out.add(m.group(1) != null ? m.group(1) : m.group(2));
            }
            return out;
        }
    }

    /** The address of the public API. */
    final String url;
    /** What doorlab said when it was ready: addresses, places and keys (docs/cli.md). */
    final Answer ready;

    private final String control;
    private final String token;
    private final Process process;
    private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    Lab(String... flags) throws IOException {
        List<String> command = new ArrayList<>(List.of(System.getenv().getOrDefault("DOORLAB", "doorlab"), "up", "--json",
                "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0"));
        command.addAll(flags.length > 0 ? List.of(flags) : List.of("--boards", "10", "--clock", "virtual"));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String line = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
        if (line == null) {
            throw new IOException("doorlab was not ready; what it said is on stderr");
        }
        ready = new Answer(200, line);
        url = ready.field("http");
        control = ready.field("control");
        token = ready.field("controlToken");
    }

    /** The id and the key of the first place of a kind: live or test. */
    String[] place(String kind) {
        List<String> ids = ready.all("placeId");
        int i = ready.all("kind").indexOf(kind);
        return new String[] {ids.get(i), ready.all("apiKey").get(i)};
    }

    /** An access token of a key. */
    String exchange(String apiKey) throws IOException, InterruptedException {
        return send("POST", url + "/core/v1/auth/apikey/token", "{\"key\":\"" + apiKey + "\"}").field("accessToken");
    }

    /** A call of the control API (docs/control-api.md). */
    Answer control(String method, String path, String body) throws IOException, InterruptedException {
        return send(method, control + "/lab/v1" + path, body, "Authorization", "Bearer " + token);
    }

    /** Moves the clock; what falls due meanwhile has happened when it returns. */
    void advance(String by) throws IOException, InterruptedException {
        control("POST", "/clock/advance", "{\"by\":\"" + by + "\"}");
    }

    /** Arms a fault (docs/faults.md) on a board; closing what it returns removes it. */
    AutoCloseable fault(String name, String board) throws IOException, InterruptedException {
        String id = control("POST", "/faults", "{\"fault\":\"" + name + "\",\"boards\":[\"" + board + "\"]}").field("faultId");
        return () -> control("DELETE", "/faults/" + id, null);
    }

    /** One request with headers in pairs: status and JSON, failures included. */
    Answer send(String method, String address, String body, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofSeconds(30)).header("Content-Type", "application/json")
                .method(method, body == null ? HttpRequest.BodyPublishers.noBody() : HttpRequest.BodyPublishers.ofString(body));
        for (int i = 0; i + 1 < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        return new Answer(answer.statusCode(), answer.body());
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (process.waitFor(10, TimeUnit.SECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
    }
}
