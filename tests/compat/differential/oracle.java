public static Object newPlugin(String name, java.util.Map config) throws Exception {
    org.apache.kafka.common.Configurable made = (org.apache.kafka.common.Configurable) Class.forName(name).getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
    made.configure(config);
    return made;
}

public static String message(Throwable error) {
    String text = error.getMessage();
    if (text == null || text.isEmpty()) return error.getClass().getSimpleName();
    return text;
}

public static org.apache.kafka.connect.json.JsonConverter envelopes() {
    org.apache.kafka.connect.json.JsonConverter made = new org.apache.kafka.connect.json.JsonConverter();
    made.configure(new java.util.HashMap(), false);
    return made;
}

public static org.apache.kafka.connect.data.SchemaAndValue read(Object text) {
    if (text == null) return envelopes().toConnectData("t", (byte[]) null);
    return envelopes().toConnectData("t", ((String) text).getBytes("UTF-8"));
}

public static Object written(org.apache.kafka.connect.data.Schema schema, Object value) {
    try {
        byte[] data = envelopes().fromConnectData("t", schema, value);
        if (data == null) return null;
        return new com.fasterxml.jackson.databind.ObjectMapper().readTree(data);
    } catch (Exception error) {
        return "!!" + message(error);
    }
}

public static Object headersOf(org.apache.kafka.connect.header.Headers headers) {
    java.util.List found = new java.util.ArrayList();
    java.util.Iterator left = headers.iterator();
    while (left.hasNext()) {
        org.apache.kafka.connect.header.Header header = (org.apache.kafka.connect.header.Header) left.next();
        java.util.List pair = new java.util.ArrayList();
        pair.add(header.key());
        pair.add(written(header.schema(), header.value()));
        found.add(pair);
    }
    return found;
}

public static org.apache.kafka.connect.sink.SinkRecord record(java.util.Map given) {
    org.apache.kafka.connect.data.SchemaAndValue key = read(given.get("key"));
    org.apache.kafka.connect.data.SchemaAndValue value = read(given.get("value"));
    org.apache.kafka.connect.data.Schema schema = value.schema();
    if (given.get("value_schema") != null) schema = read(given.get("value_schema")).schema();
    org.apache.kafka.connect.header.ConnectHeaders headers = new org.apache.kafka.connect.header.ConnectHeaders();
    java.util.List pairs = (java.util.List) given.get("headers");
    for (int place = 0; place < pairs.size(); place++) {
        java.util.List pair = (java.util.List) pairs.get(place);
        headers.addString((String) pair.get(0), (String) pair.get(1));
    }
    Long ts = null;
    if (given.get("ts") != null) ts = Long.valueOf(((Number) given.get("ts")).longValue());
    return new org.apache.kafka.connect.sink.SinkRecord((String) given.get("topic"), 3, key.schema(), key.value(), schema, value.value(), 42L, ts, org.apache.kafka.common.record.TimestampType.CREATE_TIME, headers);
}

public static Object transformed(java.util.Map given) {
    java.util.Map answer = new java.util.LinkedHashMap();
    try {
        org.apache.kafka.connect.sink.SinkRecord record = record(given);
        Object plugin = newPlugin((String) given.get("class"), (java.util.Map) given.get("config"));
        if (plugin instanceof org.apache.kafka.connect.transforms.predicates.Predicate) {
            answer.put("test", Boolean.valueOf(((org.apache.kafka.connect.transforms.predicates.Predicate) plugin).test(record)));
            return answer;
        }
        org.apache.kafka.connect.connector.ConnectRecord result = ((org.apache.kafka.connect.transforms.Transformation) plugin).apply(record);
        if (result == null) {
            answer.put("dropped", Boolean.TRUE);
            return answer;
        }
        answer.put("topic", result.topic());
        answer.put("key", written(result.keySchema(), result.key()));
        answer.put("value", written(result.valueSchema(), result.value()));
        answer.put("headers", headersOf(result.headers()));
    } catch (Throwable error) {
        answer.clear();
        answer.put("error", message(error));
        answer.put("class", error.getClass().getSimpleName());
    }
    return answer;
}

public static Object matched(java.util.Map given) {
    java.util.Map answer = new java.util.LinkedHashMap();
    try {
        java.util.regex.Pattern pattern = java.util.regex.Pattern.compile((String) given.get("regex"));
        java.util.List texts = (java.util.List) given.get("texts");
        java.util.List whole = new java.util.ArrayList();
        java.util.List found = new java.util.ArrayList();
        for (int place = 0; place < texts.size(); place++) {
            java.util.regex.Matcher matcher = pattern.matcher((String) texts.get(place));
            whole.add(Boolean.valueOf(matcher.matches()));
            matcher.reset();
            String part = null;
            if (matcher.find()) part = matcher.group();
            found.add(part);
        }
        answer.put("whole", whole);
        answer.put("found", found);
    } catch (Throwable error) {
        answer.clear();
        answer.put("error", message(error));
    }
    return answer;
}

public static java.text.SimpleDateFormat dateFormat(String pattern) {
    java.text.SimpleDateFormat made = new java.text.SimpleDateFormat(pattern, java.util.Locale.US);
    made.setTimeZone(java.util.TimeZone.getTimeZone("UTC"));
    return made;
}

public static Object date(java.util.Map given) {
    java.util.Map answer = new java.util.LinkedHashMap();
    try {
        java.text.SimpleDateFormat format = dateFormat((String) given.get("pattern"));
        if (given.get("text") == null) {
            answer.put("text", format.format(new java.util.Date(((Number) given.get("millis")).longValue())));
        } else {
            answer.put("millis", Long.valueOf(format.parse((String) given.get("text")).getTime()));
        }
    } catch (Throwable error) {
        answer.clear();
        answer.put("error", message(error));
    }
    return answer;
}

public static String schemaText(org.apache.kafka.connect.data.Schema schema) {
    if (schema == null) return "null";
    String text = schema.type().getName() + (schema.isOptional() ? "?" : "") + (schema.name() == null ? "" : "/" + schema.name());
    if (schema.parameters() != null) text = text + schema.parameters();
    if (schema.type() == org.apache.kafka.connect.data.Schema.Type.ARRAY) return text + "<" + schemaText(schema.valueSchema()) + ">";
    if (schema.type() == org.apache.kafka.connect.data.Schema.Type.MAP) return text + "<" + schemaText(schema.keySchema()) + "," + schemaText(schema.valueSchema()) + ">";
    return text;
}

public static Object tagged(Object value) {
    if (value == null) return null;
    if (value instanceof String || value instanceof Boolean) return value;
    if (value instanceof java.util.List) {
        java.util.List items = new java.util.ArrayList();
        java.util.Iterator left = ((java.util.List) value).iterator();
        while (left.hasNext()) items.add(tagged(left.next()));
        return items;
    }
    java.util.Map answer = new java.util.LinkedHashMap();
    if (value instanceof java.util.Map) {
        java.util.List items = new java.util.ArrayList();
        java.util.Iterator left = ((java.util.Map) value).entrySet().iterator();
        while (left.hasNext()) {
            java.util.Map.Entry entry = (java.util.Map.Entry) left.next();
            java.util.List pair = new java.util.ArrayList();
            pair.add(tagged(entry.getKey()));
            pair.add(tagged(entry.getValue()));
            items.add(pair);
        }
        answer.put("entries", items);
        return answer;
    }
    answer.put("class", value.getClass().getName());
    if (value instanceof java.util.Date) answer.put("text", String.valueOf(((java.util.Date) value).getTime()));
    else if (value instanceof java.math.BigDecimal) answer.put("text", ((java.math.BigDecimal) value).unscaledValue() + "e" + (-((java.math.BigDecimal) value).scale()));
    else answer.put("text", value.toString());
    return answer;
}

public static Object described(org.apache.kafka.connect.data.Schema schema, Object value) {
    java.util.Map answer = new java.util.LinkedHashMap();
    answer.put("schema", schemaText(schema));
    answer.put("value", tagged(value));
    return answer;
}

public static Object parsed(java.util.Map given) {
    org.apache.kafka.connect.data.SchemaAndValue found = org.apache.kafka.connect.data.Values.parseString((String) given.get("text"));
    java.util.Map answer = new java.util.LinkedHashMap();
    if (found == null) return answer;
    answer.put("found", described(found.schema(), found.value()));
    answer.put("text", org.apache.kafka.connect.data.Values.convertToString(found.schema(), found.value()));
    answer.put("toString", String.valueOf(found.value()));
    return answer;
}

public static Object texts(java.util.Map given) {
    java.util.Map answer = new java.util.LinkedHashMap();
    try {
        org.apache.kafka.connect.data.SchemaAndValue found = read(given.get("envelope"));
        answer.put("toString", String.valueOf(found.value()));
        answer.put("text", org.apache.kafka.connect.data.Values.convertToString(found.schema(), found.value()));
    } catch (Throwable error) {
        answer.put("error", message(error));
    }
    return answer;
}

public static Object answer(java.util.Map given) {
    String question = (String) given.get("question");
    if (question.equals("transformed")) return transformed(given);
    if (question.equals("matched")) return matched(given);
    if (question.equals("date")) return date(given);
    if (question.equals("parsed")) return parsed(given);
    if (question.equals("texts")) return texts(given);
    throw new IllegalArgumentException(question);
}

public static String answers(String questions) throws Exception {
    com.fasterxml.jackson.databind.ObjectMapper mapper = new com.fasterxml.jackson.databind.ObjectMapper();
    java.util.List given = (java.util.List) mapper.readValue(questions, java.util.List.class);
    java.util.List found = new java.util.ArrayList();
    for (int place = 0; place < given.size(); place++) found.add(answer((java.util.Map) given.get(place)));
    return mapper.writeValueAsString(found);
}
