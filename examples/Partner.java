// A partner's client: java Partner.java BASE KEY [REASON...]. Needs nothing but a JDK, 17 or newer.
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.*;
import java.util.*;
import java.util.regex.*;

public class Partner {
    static final HttpClient http = HttpClient.newHttpClient();
    static String base, key, token;

    record Answer(int status, String body) {
        /** The first field of that name; a JSON library does this better. */
        String get(String name) {
            Matcher m = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(body);
            return m.find() ? m.group(1) : "";
        }
    }

    static void quit(String message) {
        System.err.println(message);
        System.exit(1);
    }

    /** What a call returned; a failure ends the program with the API's message. */
    static Answer data(Answer a) {
        if (a.status != 200) quit(a.status + " " + a.get("error") + ": " + a.get("message"));
        return a;
    }

    /** One API call: exchanges the key when there is no token or it has expired, and waits out a 429. */
    static Answer call(String method, String path, String body, String idempotencyKey) throws Exception {
        if (token == null && !path.endsWith("/token"))
            token = data(call("POST", "/core/v1/auth/apikey/token", "{\"key\":\"" + key + "\"}", null)).get("accessToken");
        var req = HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(15)).header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (token != null) req.header("Authorization", "Bearer " + token);
        if (idempotencyKey != null) req.header("Idempotency-Key", idempotencyKey);
        HttpResponse<String> res = null;
        try {
            res = http.send(req.build(), HttpResponse.BodyHandlers.ofString());
        } catch (java.io.IOException e) {
            quit("no answer from " + base + ": " + e);
        }
        var answer = new Answer(res.statusCode(), res.body());
        if (answer.status == 429) Thread.sleep(1000 * Long.parseLong(res.headers().firstValue("Retry-After").orElse("60")));
        else if (answer.get("error").equals("token_expired")) token = null;
        else return answer;
        return call(method, path, body, idempotencyKey);
    }

    /** Opens a door once. After a 504 the same key tells what came of it; after a 409 only a new key tries again. */
    static String open(String door, String reason) throws Exception {
        for (int attempt = 0; ; attempt++) {
            String once = UUID.randomUUID().toString(), path = "/device/v1/devices/" + door + "/commands";
            String body = "{\"capability\":\"door\",\"command\":\"open\",\"args\":{\"reason\":\"" + reason + "\"}}";
            Answer a = call("POST", path, body, once);
            if (a.status == 504) a = call("POST", path, body, once);
            if (a.status != 409 || attempt > 0) return a.status == 200 ? "opened" : a.get("error");
            Thread.sleep(1000);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length < 2) quit("usage: java Partner.java BASE KEY [REASON...]");
        base = args[0];
        key = args[1];
        Instant now = Instant.now();
        Answer permit = data(call("POST", "/space/v1/partner/entry-permits", "{\"externalRef\":\"order-1\",\"phone\":\"01012345678\",\"name\":\"Kim\",\"startsAt\":\""
            + now + "\",\"endsAt\":\"" + now.plus(Duration.ofDays(1)) + "\"}", null));
        System.out.println("link " + permit.get("url"));
        String door = data(call("GET", "/device/v1/devices", null, null)).get("id");
        for (String reason : args.length > 2 ? List.of(args).subList(2, args.length) : List.of("front desk"))
            System.out.println("door " + open(door, reason));
    }
}
