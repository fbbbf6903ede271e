import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * A plain writer of topics into tables: the Java consumer, JsonConverter with schemas, one prepared statement
 * whose batches the driver rewrites to rows of one INSERT, one transaction a poll. Nothing of a framework: no
 * offsets are committed, no tasks, no transformations.
 *
 * Arguments: brokers, JDBC address, user, password, records of a poll, rows of a batch. Each line of the standard
 * input is a run: topic, table, its key or a dash, and how many records there are. It stays for the next one, so
 * that a later run finds compiled code.
 */
public final class TopicToJdbc {
  public static void main(String[] arguments) throws Exception {
    Properties login = new Properties();
    login.setProperty("user", arguments[2]);
    login.setProperty("password", arguments[3]);
    login.setProperty("reWriteBatchedInserts", "true");
    BufferedReader runs = new BufferedReader(new InputStreamReader(System.in));
    for (String line = runs.readLine(); line != null; line = runs.readLine()) {
      String[] run = line.split(" ");
      Properties settings = new Properties();
      settings.setProperty("bootstrap.servers", arguments[0]);
      settings.setProperty("max.poll.records", arguments[4]);
      settings.setProperty("auto.offset.reset", "earliest");
      settings.setProperty("enable.auto.commit", "false");
      try (Connection connection = DriverManager.getConnection(arguments[1], login);
          KafkaConsumer<byte[], byte[]> consumer =
              new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
          JsonConverter converter = new JsonConverter()) {
        converter.configure(Map.of("schemas.enable", "true"), false);
        connection.setAutoCommit(false);
        consumer.assign(List.of(new TopicPartition(run[0], 0)));
        copy(consumer, converter, connection, run, Integer.parseInt(arguments[5]));
      }
      System.out.println("done");
    }
  }

  private static void copy(
      KafkaConsumer<byte[], byte[]> consumer,
      JsonConverter converter,
      Connection connection,
      String[] run,
      int batch)
      throws Exception {
    PreparedStatement statement = null;
    Schema prepared = null;
    long left = Long.parseLong(run[3]);
    while (left > 0) {
      ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofSeconds(1));
      int waiting = 0;
      for (ConsumerRecord<byte[], byte[]> record : records) {
        SchemaAndValue value = converter.toConnectData(run[0], record.value());
        if (!value.schema().equals(prepared)) {
          if (waiting > 0) {
            statement.executeBatch();
            waiting = 0;
          }
          prepared = value.schema();
          statement = connection.prepareStatement(insert(prepared, run[1], run[2]));
        }
        bind(statement, (Struct) value.value());
        statement.addBatch();
        if (++waiting == batch) {
          statement.executeBatch();
          waiting = 0;
        }
      }
      if (waiting > 0) {
        statement.executeBatch();
      }
      connection.commit();
      left -= records.count();
    }
  }

  private static void bind(PreparedStatement statement, Struct row) throws Exception {
    int place = 1;
    for (Field field : row.schema().fields()) {
      Object value = row.get(field);
      switch (field.schema().type()) {
        case INT32 -> statement.setInt(place, (Integer) value);
        case INT64 -> statement.setLong(place, (Long) value);
        default -> statement.setString(place, (String) value);
      }
      place++;
    }
  }

  private static String insert(Schema schema, String table, String key) {
    List<String> names = schema.fields().stream().map(field -> '"' + field.name() + '"').toList();
    String marks = names.stream().map(name -> "?").collect(Collectors.joining(","));
    String text = "INSERT INTO " + table + " (" + String.join(",", names) + ") VALUES (" + marks + ")";
    if (key.equals("-")) {
      return text;
    }
    String changed =
        names.stream()
            .filter(name -> !name.equals('"' + key + '"'))
            .map(name -> name + "=EXCLUDED." + name)
            .collect(Collectors.joining(","));
    return text + " ON CONFLICT (\"" + key + "\") DO UPDATE SET " + changed;
  }
}
