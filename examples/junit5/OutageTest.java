import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a partner's test looks like with JUnit 5. */
class OutageTest {
    private static Lab lab;

    @BeforeAll
    static void start() throws Exception {
        lab = new Lab();
    }

    @AfterAll
    static void stop() {
        lab.close();
    }

    @Test
    void aDoorInAnOutage() throws Exception {
        String[] place = lab.place("live");
        Lab.Answer boards = lab.control("GET", "/boards?limit=1&placeId=" + place[0], null);
        String board = boards.field("boardId");
        String door = boards.field("doorId");
        assertEquals(200, open(place[1], door, "first").status);
        assertEquals("pulse", lab.control("GET", "/boards/" + board + "/journal", null).field("action"));

        try (AutoCloseable line = lab.fault("offline", board)) {
            lab.advance("37h");
            Lab.Answer refused = open(place[1], door, "second");
            assertEquals(409, refused.status);
            assertEquals("device_offline", refused.field("error"));
            assertEquals("stopped", lab.control("GET", "/boards/" + board, null).field("phase"));
        }
        lab.advance("1m");
        assertEquals(200, open(place[1], door, "third").status);
    }

    private static Lab.Answer open(String apiKey, String door, String key) throws Exception {
        return lab.send("POST", lab.url + "/device/v1/devices/" + door + "/commands", "{\"capability\":\"door\",\"command\":\"open\"}",
                "Authorization", "Bearer " + lab.exchange(apiKey), "Idempotency-Key", key);
    }
}
