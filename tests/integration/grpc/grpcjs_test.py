#!/usr/bin/env python3
"""The same sectors over an independent client: @grpc/grpc-js with its own copy of the message layout.

Usage: grpcjs_test.py BIN VECTORS PARAMETERS MODULES   (MODULES: where `npm ci` has put node_modules)
"""

import json
import pathlib
import sys
import unittest

import daemon_fixture as fixture
from daemon_fixture import requests, run

CLIENT = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "grpcjs" / "client.mjs"
MODULES = None


class IndependentClient(fixture.DaemonTest):

    def client(self, command, *arguments, address=None):
        answer = run("node", CLIENT, command, address or self.daemon.address, *arguments,
                     environment={"GRPCJS_MODULES": str(MODULES)})
        self.assertEqual(answer.code, 0, answer)
        return answer.json()

    def test_one_sector_of_every_kind(self):
        for kind in ("porep", "winning", "window", "snap"):
            with self.subTest(kind=kind):
                request = requests(kind)[0]
                proof = self.folder / kind
                result = self.client("prove", request, proof)
                self.assertEqual(result["status"], "COMPLETED", result)
                self.assertGreater(int(result["total_ms"]), 0)
                self.verify(request, proof)

    def test_S06_errors_are_statuses_and_results_are_filled(self):
        request = requests("porep")[0]
        out = self.folder / "proof"
        self.assertEqual(self.client("prove", request, out, json.dumps({"proof_kind": 0}))["code"], "INVALID_ARGUMENT")
        self.assertEqual(self.client("prove", request, out, json.dumps({"proof_kind": 77}))["code"], "INVALID_ARGUMENT")
        self.assertEqual(self.client("prove", request, out, json.dumps({"registered_proof": 15}))["code"],
                         "UNIMPLEMENTED")
        failed = self.client("prove", request, out, json.dumps({"vanilla_proof": "bm90IEpTT04="}))
        self.assertEqual(failed["status"], "FAILED", failed)
        self.assertTrue(failed["error_message"])
        self.assertEqual(self.client("call", "Prove", "{}")["code"], "INVALID_ARGUMENT")
        self.assertEqual(self.client("call", "AwaitProof", '{"job_id":"nobody"}')["code"], "NOT_FOUND")
        self.assertEqual(self.client("call", "CancelProof", '{"job_id":"nobody"}')["code"], "NOT_FOUND")
        self.assertEqual(self.client("call", "PreloadSRS", '{"circuit_id":"porep-3g"}')["code"], "INVALID_ARGUMENT")
        missing = self.client("call", "PreloadSRS", '{"circuit_id":"porep-512m"}')
        self.assertEqual(missing["code"], "FAILED_PRECONDITION")

    def test_an_empty_id_becomes_one(self):
        result = self.client("prove", requests("winning")[0], self.folder / "proof", json.dumps({"request_id": ""}))
        self.assertRegex(result["job_id"], r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")

    def test_status_and_metrics(self):
        status = self.client("call", "GetStatus", "{}")
        self.assertEqual(len(status["gpus"]), 1)
        self.assertIn("cuzk_uptime_seconds", self.client("call", "GetMetrics", "{}")["prometheus_text"])

    def test_health(self):
        for service in ("", "cuzk.v1.ProvingEngine", "porep", "window", "winning", "snap"):
            self.assertEqual(self.client("health", service), {"check": "SERVING", "watch": "SERVING"})
        self.assertEqual(self.client("health", "nobody"), {"check": "NOT_FOUND", "watch": "SERVICE_UNKNOWN"})

    def test_reflection_lists_the_services(self):
        services = self.client("services")
        self.assertIn("cuzk.v1.ProvingEngine", services)
        self.assertIn("cuzkd.v1.Operator", services)


if __name__ == "__main__":
    fixture.configure(*sys.argv[1:4])
    MODULES = sys.argv[4]
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
