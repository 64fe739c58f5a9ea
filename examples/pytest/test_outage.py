"""What a partner's test looks like. Runs with pytest, and with python3 -m unittest."""
import unittest

from doorlab import Lab, send


def open_door(lab, place, door, key):
    token = send("POST", lab.url + "/core/v1/auth/apikey/token", {"key": place["apiKey"]})[1]["data"]["accessToken"]
    return send("POST", f"{lab.url}/device/v1/devices/{door}/commands", {"capability": "door", "command": "open"},
                {"Authorization": "Bearer " + token, "Idempotency-Key": key})


def test_a_door_in_an_outage(lab):
    place = lab.live[0]
    board = lab.boards(place)[0]
    door = board["doors"][0]["doorId"]
    assert open_door(lab, place, door, "first")[0] == 200
    assert [line["action"] for line in lab.journal(board["boardId"])] == ["pulse"]

    reconnect = lab.fault("offline", board["boardId"])
    lab.advance("37h")
    status, answer = open_door(lab, place, door, "second")
    assert (status, answer["details"]["reason"]) == (409, "offline")
    assert lab.control("GET", "/boards/" + board["boardId"])["phase"] == "stopped"

    reconnect()
    lab.advance("1m")
    assert open_door(lab, place, door, "third")[0] == 200


class WithoutPytest(unittest.TestCase):
    def test_a_door_in_an_outage(self):
        with Lab() as lab:
            test_a_door_in_an_outage(lab)
