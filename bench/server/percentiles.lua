-- Prints what wrk has measured as a line of JSON.
done = function(summary, latency)
  local wrong = summary.errors
  print(string.format('{"requests": %d, "us": %d, "errors": %d, "p50_us": %d, "p99_us": %d, "p99_9_us": %d}',
    summary.requests, summary.duration, wrong.connect + wrong.read + wrong.write + wrong.status + wrong.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
