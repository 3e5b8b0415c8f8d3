module @jit_associative_scan attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x4xf32>, %arg1: tensor<9x4xf32>) -> (tensor<9x4xf32> {jax.result_info = "result[0][0]"}, tensor<9x4xf32> {jax.result_info = "result[0][1]"}, tensor<9x4xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:8:2, 0:4] : (tensor<9x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.slice %arg1 [0:8:2, 0:4] : (tensor<9x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.slice %arg0 [1:9:2, 0:4] : (tensor<9x4xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.slice %arg1 [1:9:2, 0:4] : (tensor<9x4xf32>) -> tensor<4x4xf32>
    %4 = stablehlo.multiply %0, %2 : tensor<4x4xf32>
    %5 = stablehlo.multiply %1, %2 : tensor<4x4xf32>
    %6 = stablehlo.add %5, %3 : tensor<4x4xf32>
    %7 = stablehlo.slice %4 [0:3:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %8 = stablehlo.slice %6 [0:3:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %9 = stablehlo.slice %4 [1:4:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %10 = stablehlo.slice %6 [1:4:2, 0:4] : (tensor<4x4xf32>) -> tensor<2x4xf32>
    %11 = stablehlo.multiply %7, %9 : tensor<2x4xf32>
    %12 = stablehlo.multiply %8, %9 : tensor<2x4xf32>
    %13 = stablehlo.add %12, %10 : tensor<2x4xf32>
    %14 = stablehlo.slice %11 [0:1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %15 = stablehlo.slice %13 [0:1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %16 = stablehlo.slice %11 [1:2:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %17 = stablehlo.slice %13 [1:2:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %18 = stablehlo.multiply %14, %16 : tensor<1x4xf32>
    %19 = stablehlo.multiply %15, %16 : tensor<1x4xf32>
    %20 = stablehlo.add %19, %17 : tensor<1x4xf32>
    %21 = stablehlo.slice %18 [0:0, 0:4] : (tensor<1x4xf32>) -> tensor<0x4xf32>
    %22 = stablehlo.slice %20 [0:0, 0:4] : (tensor<1x4xf32>) -> tensor<0x4xf32>
    %23 = stablehlo.slice %11 [2:2:2, 0:4] : (tensor<2x4xf32>) -> tensor<0x4xf32>
    %24 = stablehlo.slice %13 [2:2:2, 0:4] : (tensor<2x4xf32>) -> tensor<0x4xf32>
    %25 = stablehlo.multiply %21, %23 : tensor<0x4xf32>
    %26 = stablehlo.multiply %22, %23 : tensor<0x4xf32>
    %27 = stablehlo.add %26, %24 : tensor<0x4xf32>
    %28 = stablehlo.slice %11 [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %29 = stablehlo.concatenate %28, %25, dim = 0 : (tensor<1x4xf32>, tensor<0x4xf32>) -> tensor<1x4xf32>
    %30 = stablehlo.slice %13 [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %31 = stablehlo.concatenate %30, %27, dim = 0 : (tensor<1x4xf32>, tensor<0x4xf32>) -> tensor<1x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.pad %29, %cst, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.pad %18, %cst_0, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %34 = stablehlo.add %32, %33 : tensor<2x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.pad %31, %cst_1, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.pad %20, %cst_2, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<1x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %37 = stablehlo.add %35, %36 : tensor<2x4xf32>
    %38 = stablehlo.slice %34 [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %39 = stablehlo.slice %37 [0:1, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %40 = stablehlo.slice %4 [2:4:2, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>
    %41 = stablehlo.slice %6 [2:4:2, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>
    %42 = stablehlo.multiply %38, %40 : tensor<1x4xf32>
    %43 = stablehlo.multiply %39, %40 : tensor<1x4xf32>
    %44 = stablehlo.add %43, %41 : tensor<1x4xf32>
    %45 = stablehlo.slice %4 [0:1, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>
    %46 = stablehlo.concatenate %45, %42, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    %47 = stablehlo.slice %6 [0:1, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>
    %48 = stablehlo.concatenate %47, %44, dim = 0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.pad %46, %cst_3, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %50 = stablehlo.pad %34, %cst_4, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %51 = stablehlo.add %49, %50 : tensor<4x4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.pad %48, %cst_5, low = [0, 0], high = [1, 0], interior = [1, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %53 = stablehlo.pad %37, %cst_6, low = [1, 0], high = [0, 0], interior = [1, 0] : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %54 = stablehlo.add %52, %53 : tensor<4x4xf32>
    %55 = stablehlo.slice %arg0 [2:9:2, 0:4] : (tensor<9x4xf32>) -> tensor<4x4xf32>
    %56 = stablehlo.slice %arg1 [2:9:2, 0:4] : (tensor<9x4xf32>) -> tensor<4x4xf32>
    %57 = stablehlo.multiply %51, %55 : tensor<4x4xf32>
    %58 = stablehlo.multiply %54, %55 : tensor<4x4xf32>
    %59 = stablehlo.add %58, %56 : tensor<4x4xf32>
    %60 = stablehlo.slice %arg0 [0:1, 0:4] : (tensor<9x4xf32>) -> tensor<1x4xf32>
    %61 = stablehlo.concatenate %60, %57, dim = 0 : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %62 = stablehlo.slice %arg1 [0:1, 0:4] : (tensor<9x4xf32>) -> tensor<1x4xf32>
    %63 = stablehlo.concatenate %62, %59, dim = 0 : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %64 = stablehlo.pad %61, %cst_7, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<9x4xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %65 = stablehlo.pad %51, %cst_8, low = [1, 0], high = [1, 0], interior = [1, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<9x4xf32>
    %66 = stablehlo.add %64, %65 : tensor<9x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.pad %63, %cst_9, low = [0, 0], high = [0, 0], interior = [1, 0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<9x4xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.pad %54, %cst_10, low = [1, 0], high = [1, 0], interior = [1, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<9x4xf32>
    %69 = stablehlo.add %67, %68 : tensor<9x4xf32>
    %70 = stablehlo.reverse %arg1, dims = [1] : tensor<9x4xf32>
    %71 = stablehlo.slice %70 [0:9, 0:3:2] : (tensor<9x4xf32>) -> tensor<9x2xf32>
    %72 = stablehlo.slice %70 [0:9, 1:4:2] : (tensor<9x4xf32>) -> tensor<9x2xf32>
    %73 = stablehlo.maximum %71, %72 : tensor<9x2xf32>
    %74 = stablehlo.slice %73 [0:9, 0:1:2] : (tensor<9x2xf32>) -> tensor<9x1xf32>
    %75 = stablehlo.slice %73 [0:9, 1:2:2] : (tensor<9x2xf32>) -> tensor<9x1xf32>
    %76 = stablehlo.maximum %74, %75 : tensor<9x1xf32>
    %77 = stablehlo.slice %76 [0:9, 0:0] : (tensor<9x1xf32>) -> tensor<9x0xf32>
    %78 = stablehlo.slice %73 [0:9, 2:2:2] : (tensor<9x2xf32>) -> tensor<9x0xf32>
    %79 = stablehlo.maximum %77, %78 : tensor<9x0xf32>
    %80 = stablehlo.slice %73 [0:9, 0:1] : (tensor<9x2xf32>) -> tensor<9x1xf32>
    %81 = stablehlo.concatenate %80, %79, dim = 1 : (tensor<9x1xf32>, tensor<9x0xf32>) -> tensor<9x1xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %82 = stablehlo.pad %81, %cst_11, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x2xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %83 = stablehlo.pad %76, %cst_12, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x2xf32>
    %84 = stablehlo.add %82, %83 : tensor<9x2xf32>
    %85 = stablehlo.slice %84 [0:9, 0:1] : (tensor<9x2xf32>) -> tensor<9x1xf32>
    %86 = stablehlo.slice %70 [0:9, 2:4:2] : (tensor<9x4xf32>) -> tensor<9x1xf32>
    %87 = stablehlo.maximum %85, %86 : tensor<9x1xf32>
    %88 = stablehlo.slice %70 [0:9, 0:1] : (tensor<9x4xf32>) -> tensor<9x1xf32>
    %89 = stablehlo.concatenate %88, %87, dim = 1 : (tensor<9x1xf32>, tensor<9x1xf32>) -> tensor<9x2xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.pad %89, %cst_13, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<9x2xf32>, tensor<f32>) -> tensor<9x4xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %91 = stablehlo.pad %84, %cst_14, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<9x2xf32>, tensor<f32>) -> tensor<9x4xf32>
    %92 = stablehlo.add %90, %91 : tensor<9x4xf32>
    %93 = stablehlo.reverse %92, dims = [1] : tensor<9x4xf32>
    return %66, %69, %93 : tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>
  }
}
