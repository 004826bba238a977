"""Inputs that once failed, by target and name."""

FOUND = {
    ("answers", "long"): (
        b'\x07\x00{"tag": "order-x100", "start": "1001", "end": "2001", "stride": "\x01", "step": 1000, "nonce": '
        b'"0123456789abcdef0123456789abcdef", "worker_id": 3, "from": 1600000000000, "until": "\x01", "lease_ms":'
        b' 60000, "server_time": 1600000000000, "peer_times": [1, 2], "token": "secret"}'
    ),
    ("framing", "blank"): b'\x01HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4 \r\n1001\r\n0\r\n\r\n',
    ("framing", "lf_in_extension"): (
        b'\x01HTTP/1.1 200 OK/\nTransfer-Encoding: chunked\r\n\r\n2\r\n10\r\n2;4`\n\r\n01\r\n0\r\n\xff\xff\xff'
        b'\xff\xff\xff\xff\xff\xff\xdf\r\n'
    ),
    ("framing", "lf_in_head"): b'\x01HTTP/1.1 200 OK\nContent-Length: 4\n\n1001',
    ("framing", "list_of_lengths"): b'\x01HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\n1001',
    ("framing", "sign"): b'\x01HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+4\r\n1001\r\n0\r\n\r\n',
    ("framing", "trailer"): (
        b'\x01HTTP/1.1 200 OK/\nTransfer-Encoding: chunked\r\n\r\n2\r\n10\r\n2;x=y\r\n01\r\n0\r\n\xff\xff\xff\xff'
        b'\xff\xff\xff\xff\xff\xff\r\n'
    ),
    ("framing", "version"): b'\x00HTTP/1.0 200 OK\r\nContLength: 4\r\nTransfer-Encoding: chunked\r\n\r\n1000',
    ("framing", "wide_size"): (
        b'\x01HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n000000004\r\n1001\r\n0\r\n\r\n'
    ),
    ("options", "name"): b'\x01http://127.0.0.1roc:80',
    ("options", "path"): (
        b'\x01HTTPS://idsxaxample.com/a%:m::mids\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\_1.exaxample.pl/a%20b/'
    ),
    ("state_files", "number"): (
        b'\x01\x00\xff\x94\x11\x00\x00\x00\x00\x00\x00{"leafid_state":1,"number":18446744073709551615,"name":"@",'
        b'"worker_id":7,"epoch_ms":1288834974657,"tick_ms":1,"timestamp_bits":41,"worker_bits":10,"sequence_bits"'
        b':12,"order":"worker-sequence","first_ms":1795316334096,"until_ms":1795316334596,"granted_at_ms":1795316'
        b'334096,"owner":"16b811be3ba204a4948c9ad2c6012fc7","burnt_ms":[],"former_ms":[],"writer":{"pid":26208,"h'
        b'ost":"vm","started":"2026-11-22T02:58:53.630Z","boot":"","counted_ms":5178698}}\n{"leafid_state":1,"num'
        b'ber":18446744073709551615,"name":"@","worker_id":7,"epoch_ms":1288834974657,"tick_ms":1,"timestamp_bits'
        b'":41,"worker_bits":10,"sequence_bits":12,"order":"worker-sequence","first_ms":1795316334096,"until_ms":'
        b'1795316334119,"granted_at_ms":1795316334118,"owner":"16b811be3ba204a4948c9ad2c6012fc7","burnt_ms":[],"f'
        b'ormer_ms":[],"writer":{"pid":26208,"host":"vm","started":"2026-11-22T02:58:53.630Z","boot":"","counted_'
        b'ms":5178720}}'
    ),
    ("stored_files", "control"): (
        b'\x00\t\n\x01\x00\x00{"leafid":"mark","format":1,"\x8a\x8a\x92\x9der":2,"source":"fuzz","tag":"order","m'
        b'ark":"2","spans":"1,1","fetched_ms":179531633391,"number":2,"sourc=e":"fuzz","tag":"order","\x01\x00171'
        b'35760203685477580;8,"wr75808,"machine":\x02m","device":1,"inode":1}}\n{"leafid":"mark","format":1,"numb'
        b'er":1,"source":"fuz\x7f","tag":"order","mark":"0","spans":"","fetched_ms":0}'
    ),
    ("stored_files", "kept-time"): (
        b'\x00\t\n\x01\x00\x00{"leafid":"mark","format":1,"number":2,"source":"fuzz","tag":"order","mark":"2","sp'
        b'ans":"1,1","fetched_ms":1795316333922,"kept":{"segments":[["1","5","1"]],"kept_ms":-9223372036854775808'
        b',"written_ms":-9223372036854775808,"machine":"m","device":1,"inode":1}}\n{"leafid":"mark","format":1,"n'
        b'umber":1,"source":"fuzz","tag":"order","mark":"0","spans":"","fetched_ms":0}'
    ),
    ("stored_files", "lease-time"): (
        b'\x03\x00\t{"leafid":"lease","format":1,"number":4,"name":"fuzz","worker_id":7,"servers":["http://127.0.'
        b'0.1:1"],"held":{"from_ms":1,"until_ms":@until,"lease_ms":60000,"token":"t","ends_ms":@ends,"boot":"@boo'
        b't","owner":"00000000000000000000000000005eed","written_ms":-9223372036854775808,"device":@device,"inode'
        b'":@inode}}\n{"leafid":"lease","format":1,"number":5,"name":"fuzz","worker_id":7,"servers":["http://127.'
        b'0.0.1:1"],"held":{"from_ms":1,"until_ms":@until,"lease_ms":60000,"token":"t","ends_ms":@ends,"boot":"@b'
        b'oot","owner":"00000000000000000000000000005eed","written_ms":-9223372036854775808,"device":@device,"ino'
        b'de":@inode}}'
    ),
}
