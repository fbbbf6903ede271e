import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/**
 * A plain reader of one table into one topic: a cursor of the server, a Struct a row, JsonConverter with
 * schemas, the Java producer. Nothing of a framework: no offsets, no transformations, no tasks.
 *
 * Arguments: JDBC address, user, password, query, table (names the schema), brokers, fetch size. Each line
 * given to it names a topic, which it fills and then answers with "done": one process for all runs.
 */
public final class JdbcToTopic {
  private static final Calendar UTC = new GregorianCalendar(TimeZone.getTimeZone("UTC"));

  private interface Column {
    Object read(ResultSet rows) throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    Properties login = new Properties();
    login.setProperty("user", arguments[1]);
    login.setProperty("password", arguments[2]);
    try (Connection connection = DriverManager.getConnection(arguments[0], login);
        KafkaProducer<byte[], byte[]> producer = producer(arguments[5]);
        JsonConverter converter = new JsonConverter();
        BufferedReader topics = new BufferedReader(new InputStreamReader(System.in))) {
      converter.configure(Map.of("schemas.enable", "true"), false);
      connection.setAutoCommit(false); // or the driver reads the whole result into memory
      for (String topic = topics.readLine(); topic != null; topic = topics.readLine()) {
        try (Statement statement = connection.createStatement()) {
          statement.setFetchSize(Integer.parseInt(arguments[6]));
          fill(topic, statement.executeQuery(arguments[3]), arguments[4], converter, producer);
        }
        connection.rollback();
        System.out.println("done");
      }
    }
  }

  private static void fill(
      String topic,
      ResultSet rows,
      String table,
      JsonConverter converter,
      KafkaProducer<byte[], byte[]> producer)
      throws Exception {
    AtomicReference<Exception> failure = new AtomicReference<>();
    Schema schema = schema(rows.getMetaData(), table);
    Column[] columns = columns(rows.getMetaData());
    while (rows.next()) {
      Struct row = new Struct(schema);
      for (int place = 0; place < columns.length; place++) {
        Object value = columns[place].read(rows);
        row.put(schema.fields().get(place), rows.wasNull() ? null : value);
      }
      producer.send(
          new ProducerRecord<>(topic, converter.fromConnectData(topic, schema, row)),
          (metadata, error) -> {
            if (error != null) {
              failure.set(error);
            }
          });
    }
    producer.flush();
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  private static KafkaProducer<byte[], byte[]> producer(String brokers) {
    Properties settings = new Properties();
    settings.setProperty(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private static Schema schema(ResultSetMetaData columns, String name) throws Exception {
    SchemaBuilder schema = SchemaBuilder.struct().name(name);
    for (int place = 1; place <= columns.getColumnCount(); place++) {
      SchemaBuilder field =
          switch (columns.getColumnType(place)) {
            case Types.BIT -> SchemaBuilder.bool();
            case Types.SMALLINT -> SchemaBuilder.int16();
            case Types.INTEGER -> SchemaBuilder.int32();
            case Types.BIGINT -> SchemaBuilder.int64();
            case Types.DOUBLE -> SchemaBuilder.float64();
            case Types.TIMESTAMP -> org.apache.kafka.connect.data.Timestamp.builder();
            default -> SchemaBuilder.string();
          };
      if (columns.isNullable(place) != ResultSetMetaData.columnNoNulls) {
        field.optional();
      }
      schema.field(columns.getColumnLabel(place), field.build());
    }
    return schema.build();
  }

  private static Column[] columns(ResultSetMetaData columns) throws Exception {
    Column[] readers = new Column[columns.getColumnCount()];
    for (int each = 1; each <= readers.length; each++) {
      int place = each;
      readers[place - 1] =
          switch (columns.getColumnType(place)) {
            case Types.BIT -> rows -> rows.getBoolean(place);
            case Types.SMALLINT -> rows -> rows.getShort(place);
            case Types.INTEGER -> rows -> rows.getInt(place);
            case Types.BIGINT -> rows -> rows.getLong(place);
            case Types.DOUBLE -> rows -> rows.getDouble(place);
            case Types.TIMESTAMP -> rows -> date(rows.getTimestamp(place, UTC));
            default -> rows -> rows.getString(place);
          };
    }
    return readers;
  }

  private static java.util.Date date(Timestamp timestamp) {
    return timestamp == null ? null : new java.util.Date(timestamp.getTime());
  }
}
